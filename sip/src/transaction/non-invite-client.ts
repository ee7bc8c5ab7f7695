import type { Machine, Ms } from '@parley/kernel'
import type { SipResponse } from '../message/message.ts'
import { earliest, type TransactionTimers } from './timers.ts'

type NonInviteClientState = 'trying' | 'proceeding' | 'completed' | 'terminated'

type NonInviteClientInput =
  | { readonly type: 'response'; readonly response: SipResponse }
  | { readonly type: 'transport-error' }

type NonInviteClientOutput =
  | { readonly type: 'send-request' }
  | { readonly type: 'response'; readonly response: SipResponse }
  /** Timer F. */
  | { readonly type: 'timeout' }
  | { readonly type: 'transport-error' }
  /** Last output. */
  | { readonly type: 'terminated' }

/**
 * Non-INVITE client transaction: RFC 3261 section 17.1.2 (figure 6).
 *
 *                       | request sent
 *      Timer E          v
 *     +--resend-->+-----------+   Timer F or transport error
 *     +-----------|  Trying   |------------------------------+
 *                 +-----------+                              |
 *                   | 1xx   | 200-699                        |
 *      Timer E      v       |                                |
 *     +--resend-->+-----------+   Timer F or transport error |
 *     +-----------|Proceeding |----------------------------->|
 *       1xx to TU +-----------+                              |
 *                   | 200-699 |                              |
 *                   v         v                              |
 *                 +-----------+                              |
 *                 | Completed |--Timer K--------------->+------------+
 *                 +-----------+                         | Terminated |
 *                                                       +------------+
 */
export class NonInviteClientTransaction implements Machine<NonInviteClientInput, NonInviteClientOutput> {
  readonly #timers: TransactionTimers
  #state: NonInviteClientState = 'trying'
  readonly #outputs: NonInviteClientOutput[] = [{ type: 'send-request' }]
  #timerE: Ms | undefined
  #intervalE: Ms
  #timerF: Ms | undefined
  #timerK: Ms | undefined

  constructor(now: Ms, timers: TransactionTimers) {
    this.#timers = timers
    this.#intervalE = timers.e
    // 17.1.2.2: Timer E only over an unreliable transport, Timer F over any.
    this.#timerE = timers.reliable ? undefined : now + timers.e
    this.#timerF = now + timers.f
  }

  get state(): NonInviteClientState {
    return this.#state
  }

  handle(now: Ms, input: NonInviteClientInput): void {
    switch (input.type) {
      case 'response':
        this.#onResponse(now, input.response)
        return
      case 'transport-error':
        if (this.#state !== 'trying' && this.#state !== 'proceeding') return
        this.#outputs.push({ type: 'transport-error' })
        this.#terminate()
        return
    }
  }

  #onResponse(now: Ms, response: SipResponse): void {
    // 17.1.2.2: in Completed retransmissions of the response are absorbed.
    if (this.#state !== 'trying' && this.#state !== 'proceeding') return
    this.#outputs.push({ type: 'response', response })
    if (response.status < 200) {
      this.#state = 'proceeding'
      return
    }
    this.#state = 'completed'
    this.#timerE = undefined
    this.#timerF = undefined
    if (this.#timers.k === 0) this.#terminate()
    else this.#timerK = now + this.#timers.k
  }

  advance(now: Ms): void {
    if (this.#timerF !== undefined && now >= this.#timerF) {
      this.#outputs.push({ type: 'timeout' })
      this.#terminate()
    }
    if (this.#timerE !== undefined && now >= this.#timerE) {
      this.#outputs.push({ type: 'send-request' })
      // 17.1.2.2: doubling up to T2 while Trying, T2 at once in Proceeding.
      this.#intervalE = this.#state === 'proceeding' ? this.#timers.t2 : Math.min(2 * this.#intervalE, this.#timers.t2)
      this.#timerE = now + this.#intervalE
    }
    if (this.#timerK !== undefined && now >= this.#timerK) this.#terminate()
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#timerE = undefined
    this.#timerF = undefined
    this.#timerK = undefined
    this.#outputs.push({ type: 'terminated' })
  }

  poll(): NonInviteClientOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    return earliest(this.#timerE, this.#timerF, this.#timerK)
  }
}
