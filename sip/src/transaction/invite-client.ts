import type { Machine, Ms } from '@parley/kernel'
import type { SipResponse } from '../message/message.ts'
import { earliest, type TransactionTimers } from './timers.ts'

type InviteClientState = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated'

type InviteClientInput =
  | { readonly type: 'response'; readonly response: SipResponse }
  /** The transport could not send. */
  | { readonly type: 'transport-error' }

type InviteClientOutput =
  | { readonly type: 'send-request' }
  /** ACK to a 300..699, built from the INVITE and this response (RFC 3261 section 17.1.1.3). */
  | { readonly type: 'send-ack'; readonly response: SipResponse }
  | { readonly type: 'response'; readonly response: SipResponse }
  /** Timer B. */
  | { readonly type: 'timeout' }
  | { readonly type: 'transport-error' }
  /** Last output. */
  | { readonly type: 'terminated' }

/**
 * INVITE client transaction: RFC 3261 section 17.1.1 (figure 5) with the Accepted state of RFC 6026 section 8.4.
 *
 *                         | INVITE sent
 *      Timer A            v                Timer B or transport error
 *     +--resend--->+-----------+---------------------------------------+
 *     +------------|  Calling  |--2xx-------------------------+        |
 *                  +-----------+                              |        |
 *                   | 1xx     | 300-699, ACK                  |        |
 *                   v         |                               |        |
 *          1xx +-----------+  |                               v        |
 *          +-->|Proceeding |--|--2xx------------------->+----------+   |
 *          +---+-----------+  |                         | Accepted |<-+ 2xx to TU
 *                   | 300-699 |                         +----------+--+|
 *                   | ACK     v                               |        |
 *                   |  +-----------+<-+ 300-699: ACK          | Timer M|
 *                   +->| Completed |--+                       |        |
 *                      +-----------+                          |        |
 *                            | Timer D or transport error     v        v
 *                            +-------------------------->+------------+
 *                                                        | Terminated |
 *                                                        +------------+
 */
export class InviteClientTransaction implements Machine<InviteClientInput, InviteClientOutput> {
  readonly #timers: TransactionTimers
  #state: InviteClientState = 'calling'
  readonly #outputs: InviteClientOutput[] = [{ type: 'send-request' }]
  #timerA: Ms | undefined
  #intervalA: Ms
  #timerB: Ms | undefined
  #timerD: Ms | undefined
  #timerM: Ms | undefined

  constructor(now: Ms, timers: TransactionTimers) {
    this.#timers = timers
    this.#intervalA = timers.a
    // 17.1.1.2: Timer A only over an unreliable transport, Timer B over any.
    this.#timerA = timers.reliable ? undefined : now + timers.a
    this.#timerB = now + timers.b
  }

  get state(): InviteClientState {
    return this.#state
  }

  handle(now: Ms, input: InviteClientInput): void {
    switch (input.type) {
      case 'response':
        this.#onResponse(now, input.response)
        return
      case 'transport-error':
        // RFC 6026 section 8.4: in Accepted only the TU sends (ACK to 2xx), its errors are its own.
        if (this.#state === 'accepted' || this.#state === 'terminated') return
        this.#outputs.push({ type: 'transport-error' })
        this.#terminate()
        return
    }
  }

  #onResponse(now: Ms, response: SipResponse): void {
    const { status } = response
    switch (this.#state) {
      case 'calling':
      case 'proceeding':
        if (status < 200) {
          // 17.1.1.2: a provisional response stops the retransmissions, and Timer B with them.
          this.#state = 'proceeding'
          this.#timerA = undefined
          this.#timerB = undefined
          this.#outputs.push({ type: 'response', response })
        } else if (status < 300) this.#accept(now, response)
        else this.#complete(now, response)
        return
      case 'completed':
        // 17.1.1.2: every retransmission of the final response is answered with the ACK and not reported.
        if (status >= 300) this.#outputs.push({ type: 'send-ack', response })
        return
      case 'accepted':
        // RFC 6026 section 8.4: 2xx responses, also of other forks, are passed to the TU; anything else is discarded.
        if (status >= 200 && status < 300) this.#outputs.push({ type: 'response', response })
        return
      case 'terminated':
        return
    }
  }

  #accept(now: Ms, response: SipResponse): void {
    this.#state = 'accepted'
    this.#timerA = undefined
    this.#timerB = undefined
    this.#timerM = now + this.#timers.m
    this.#outputs.push({ type: 'response', response })
  }

  #complete(now: Ms, response: SipResponse): void {
    this.#state = 'completed'
    this.#timerA = undefined
    this.#timerB = undefined
    this.#outputs.push({ type: 'send-ack', response }, { type: 'response', response })
    if (this.#timers.d === 0) this.#terminate()
    else this.#timerD = now + this.#timers.d
  }

  advance(now: Ms): void {
    if (this.#timerB !== undefined && now >= this.#timerB) {
      this.#outputs.push({ type: 'timeout' })
      this.#terminate()
    }
    if (this.#timerA !== undefined && now >= this.#timerA) {
      this.#outputs.push({ type: 'send-request' })
      this.#intervalA *= 2
      this.#timerA = now + this.#intervalA
    }
    if (this.#timerD !== undefined && now >= this.#timerD) this.#terminate()
    if (this.#timerM !== undefined && now >= this.#timerM) this.#terminate()
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#timerA = undefined
    this.#timerB = undefined
    this.#timerD = undefined
    this.#timerM = undefined
    this.#outputs.push({ type: 'terminated' })
  }

  poll(): InviteClientOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    return earliest(this.#timerA, this.#timerB, this.#timerD, this.#timerM)
  }
}
