import type { Machine, Ms } from '@parley/kernel'
import type { SipResponse } from '../message/message.ts'
import { earliest, type TransactionTimers, timeUntilTimerEReachesT2 } from './timers.ts'

type NonInviteServerState = 'trying' | 'proceeding' | 'completed' | 'terminated'

export type NonInviteServerInput =
  /** A retransmission of the request. */
  { readonly type: 'request' } | { readonly type: 'respond'; readonly response: SipResponse }

export type NonInviteServerOutput =
  | { readonly type: 'send-response'; readonly response: SipResponse }
  /** Last output. */
  | { readonly type: 'terminated' }

/**
 * Non-INVITE server transaction: RFC 3261 section 17.2.2 (figure 8) under the rules of RFC 4320.
 *
 *                       | request received
 *                       v
 *                 +-----------+
 *                 |  Trying   |--200-699 from TU---------+
 *                 +-----------+                          |
 *                   | 100 is due (RFC 4320 section 4.1)  |
 *        request:   v                                    |
 *     100 again   +-----------+                          |
 *        +------->|Proceeding |--200-699 from TU-------->|
 *        +--------+-----------+                          v
 *                                                  +-----------+ request: response again
 *                                                  | Completed |<--+
 *                                                  +-----------+---+
 *                                                        | Timer J; or never answered in Timer F
 *                                                        v
 *                                                  +------------+
 *                                                  | Terminated |
 *                                                  +------------+
 */
export class NonInviteServerTransaction implements Machine<NonInviteServerInput, NonInviteServerOutput> {
  readonly #timers: TransactionTimers
  #state: NonInviteServerState = 'trying'
  readonly #outputs: NonInviteServerOutput[] = []
  readonly #trying: () => SipResponse
  #final: SipResponse | undefined
  #tryingDue: Ms | undefined
  #timerJ: Ms | undefined
  #abandonAt: Ms | undefined

  /** `trying` is the 100 for when the TU is slow. */
  constructor(now: Ms, timers: TransactionTimers, trying: () => SipResponse) {
    this.#timers = timers
    this.#trying = trying
    // RFC 4320 section 4.1: a 100 when Timer E of the client has been reset to T2, not earlier over UDP.
    this.#tryingDue = now + timeUntilTimerEReachesT2(timers)
    // RFC 4320 section 4.2: after Timer F the client has given up, so no response is sent.
    this.#abandonAt = now + timers.f
  }

  get state(): NonInviteServerState {
    return this.#state
  }

  handle(now: Ms, input: NonInviteServerInput): void {
    switch (input.type) {
      case 'request':
        if (this.#state === 'proceeding') this.#outputs.push({ type: 'send-response', response: this.#trying() })
        if (this.#state === 'completed' && this.#final !== undefined) {
          this.#outputs.push({ type: 'send-response', response: this.#final })
        }
        return
      case 'respond':
        this.#onRespond(now, input.response)
        return
    }
  }

  #onRespond(now: Ms, response: SipResponse): void {
    if (this.#state !== 'trying' && this.#state !== 'proceeding') return
    // RFC 4320 section 4.1: no provisional of the TU's own; section 4.2: never a 408.
    if (response.status < 200 || response.status === 408) return
    this.#state = 'completed'
    this.#final = response
    this.#tryingDue = undefined
    this.#abandonAt = undefined
    this.#outputs.push({ type: 'send-response', response })
    if (this.#timers.j === 0) this.#terminate()
    else this.#timerJ = now + this.#timers.j
  }

  advance(now: Ms): void {
    if (this.#tryingDue !== undefined && now >= this.#tryingDue) {
      this.#tryingDue = undefined
      this.#state = 'proceeding'
      this.#outputs.push({ type: 'send-response', response: this.#trying() })
    }
    if (this.#timerJ !== undefined && now >= this.#timerJ) this.#terminate()
    if (this.#abandonAt !== undefined && now >= this.#abandonAt) this.#terminate()
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#tryingDue = undefined
    this.#timerJ = undefined
    this.#abandonAt = undefined
    this.#outputs.push({ type: 'terminated' })
  }

  poll(): NonInviteServerOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    return earliest(this.#tryingDue, this.#timerJ, this.#abandonAt)
  }
}
