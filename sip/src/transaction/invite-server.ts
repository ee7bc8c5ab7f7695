import type { Machine, Ms } from '@parley/kernel'
import type { SipResponse } from '../message/message.ts'
import { earliest, type TransactionTimers } from './timers.ts'

/** RFC 3261 section 17.2.1. */
const TRYING_AFTER_MS = 200

type InviteServerState = 'proceeding' | 'completed' | 'confirmed' | 'accepted' | 'terminated'

export type InviteServerInput =
  /** A retransmission of the INVITE. */
  | { readonly type: 'request' }
  | { readonly type: 'ack' }
  | { readonly type: 'respond'; readonly response: SipResponse }
  | { readonly type: 'transport-error' }

type InviteServerOutput =
  | { readonly type: 'send-response'; readonly response: SipResponse }
  /** The ACK to our 300..699 arrived. */
  | { readonly type: 'acknowledged' }
  /** Timer H: no ACK to our 300..699. */
  | { readonly type: 'timeout' }
  | { readonly type: 'transport-error' }
  /** Last output. */
  | { readonly type: 'terminated' }

/**
 * INVITE server transaction: RFC 3261 section 17.2.1 (figure 7) with the Accepted state of RFC 6026 section 8.7.
 *
 *                              | INVITE received: 100 after 200 ms (section 17.2.1)
 *      INVITE: last 1xx again  v
 *             +--------->+------------+
 *             +----------| Proceeding |--2xx from TU------------+
 *          1xx from TU   +------------+                         |
 *                              | 300-699 from TU                v
 *      INVITE, Timer G:        v                          +----------+ 2xx from TU: sent
 *      response again    +------------+                   | Accepted |--+
 *             +--------->| Completed  |                   +----------+<-+ INVITE, ACK: absorbed
 *             +----------+------------+                         |
 *                         | ACK     | Timer H                   | Timer L
 *                         v         |                           |
 *                +-----------+      |                           |
 *                | Confirmed |      v                           v
 *                +-----------+--Timer I----------------->+------------+
 *                                                        | Terminated |
 *                                                        +------------+
 */
export class InviteServerTransaction implements Machine<InviteServerInput, InviteServerOutput> {
  readonly #timers: TransactionTimers
  #state: InviteServerState = 'proceeding'
  readonly #outputs: InviteServerOutput[] = []
  readonly #trying: () => SipResponse
  #lastResponse: SipResponse | undefined
  /** When the TU has to have responded; undefined: it has. */
  #tryingAt: Ms | undefined
  #timerG: Ms | undefined
  #intervalG: Ms
  #timerH: Ms | undefined
  #timerI: Ms | undefined
  #timerL: Ms | undefined

  /** `trying` makes the 100 that goes out where the TU has not responded within the 200 ms of section 17.2.1. */
  constructor(now: Ms, timers: TransactionTimers, trying: () => SipResponse) {
    this.#timers = timers
    this.#intervalG = timers.g
    this.#trying = trying
    this.#tryingAt = now + TRYING_AFTER_MS
  }

  get state(): InviteServerState {
    return this.#state
  }

  handle(now: Ms, input: InviteServerInput): void {
    switch (input.type) {
      case 'request':
        // 17.2.1: the most recent provisional in Proceeding, the final response in Completed; absorbed elsewhere.
        if (this.#state === 'proceeding' || this.#state === 'completed') this.#sendLast()
        return
      case 'ack':
        this.#onAck(now)
        return
      case 'respond':
        this.#onRespond(now, input.response)
        return
      case 'transport-error':
        if (this.#state !== 'proceeding' && this.#state !== 'completed') return
        this.#outputs.push({ type: 'transport-error' })
        // RFC 6026 section 7.1: the transaction continues; Timer H or the TU ends it.
        return
    }
  }

  #onAck(now: Ms): void {
    if (this.#state !== 'completed') return
    this.#state = 'confirmed'
    this.#timerG = undefined
    this.#timerH = undefined
    this.#outputs.push({ type: 'acknowledged' })
    if (this.#timers.i === 0) this.#terminate()
    else this.#timerI = now + this.#timers.i
  }

  #onRespond(now: Ms, response: SipResponse): void {
    const { status } = response
    if (this.#state === 'accepted') {
      // RFC 6026 section 8.7: retransmissions of the 2xx are the TU's, the transaction passes them on.
      if (status >= 200 && status < 300) this.#outputs.push({ type: 'send-response', response })
      return
    }
    if (this.#state !== 'proceeding') return
    this.#lastResponse = response
    this.#sendLast()
    if (status < 200) return
    if (status < 300) {
      this.#state = 'accepted'
      this.#timerL = now + this.#timers.l
      return
    }
    this.#state = 'completed'
    if (!this.#timers.reliable) this.#timerG = now + this.#intervalG
    this.#timerH = now + this.#timers.h
  }

  advance(now: Ms): void {
    if (this.#tryingAt !== undefined && now >= this.#tryingAt) this.#sendLast()
    if (this.#timerH !== undefined && now >= this.#timerH) {
      this.#outputs.push({ type: 'timeout' })
      this.#terminate()
    }
    if (this.#timerG !== undefined && now >= this.#timerG) {
      this.#sendLast()
      this.#intervalG = Math.min(2 * this.#intervalG, this.#timers.t2)
      this.#timerG = now + this.#intervalG
    }
    if (this.#timerI !== undefined && now >= this.#timerI) this.#terminate()
    if (this.#timerL !== undefined && now >= this.#timerL) this.#terminate()
  }

  #sendLast(): void {
    this.#tryingAt = undefined
    this.#lastResponse ??= this.#trying()
    this.#outputs.push({ type: 'send-response', response: this.#lastResponse })
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#tryingAt = undefined
    this.#timerG = undefined
    this.#timerH = undefined
    this.#timerI = undefined
    this.#timerL = undefined
    this.#outputs.push({ type: 'terminated' })
  }

  poll(): InviteServerOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    return earliest(this.#tryingAt, this.#timerG, this.#timerH, this.#timerI, this.#timerL)
  }
}
