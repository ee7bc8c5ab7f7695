import type { Machine, Ms } from '@parley/kernel'
import { earliest, type TransactionTimers } from '../transaction/timers.ts'

type AnswerRetransmissionOutput = 'send' | 'unacknowledged'

/**
 * The 2xx to an INVITE on its way to the ACK (RFC 3261 section 13.3.1.4): sent at once, then after T1, doubling up to
 * T2, over any transport, until `ack`; after 64*T1 without an ACK retransmission stops.
 *
 *     waiting --ack--> done
 *     waiting --64*T1--> done (unacknowledged)
 */
export class AnswerRetransmission implements Machine<'ack', AnswerRetransmissionOutput> {
  readonly #t2: Ms
  readonly #outputs: AnswerRetransmissionOutput[] = ['send']
  #interval: Ms
  #resendAt: Ms | undefined
  #giveUpAt: Ms | undefined

  constructor(now: Ms, timers: Pick<TransactionTimers, 't1' | 't2' | 'h'>) {
    this.#t2 = timers.t2
    this.#interval = timers.t1
    this.#resendAt = now + timers.t1
    this.#giveUpAt = now + timers.h
  }

  handle(_now: Ms, _input: 'ack'): void {
    this.#resendAt = undefined
    this.#giveUpAt = undefined
  }

  advance(now: Ms): void {
    if (this.#giveUpAt !== undefined && now >= this.#giveUpAt) {
      this.#resendAt = undefined
      this.#giveUpAt = undefined
      this.#outputs.push('unacknowledged')
    }
    if (this.#resendAt !== undefined && now >= this.#resendAt) {
      this.#outputs.push('send')
      this.#interval = Math.min(2 * this.#interval, this.#t2)
      this.#resendAt = now + this.#interval
    }
  }

  poll(): AnswerRetransmissionOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    return earliest(this.#resendAt, this.#giveUpAt)
  }
}
