import type { SipResponse } from '../message/message.ts'
import { parseRetryAfter } from '../message/retry-after.ts'
import type { RequestFailure } from '../transaction/client-transaction.ts'
import { abilityHeaders, WITHOUT_100REL } from './capabilities.ts'
import { headersWith } from './custom-headers.ts'
import { glareBackOff } from './reinvite.ts'
import type { SessionCore } from './session-core.ts'
import type { SessionTimer } from './session-timer.ts'

/**
 * Session refreshes of ours (RFC 4028 section 7.4): UPDATE without a session description if the peer supports it (RFC
 * 3311), otherwise an event asks the application for a re-INVITE.
 */
export class OutgoingRefresh {
  readonly #core: SessionCore
  readonly #timer: SessionTimer
  readonly #hooks: { isReofferUnderWay(): boolean; onGone(cause: 'timeout' | 'protocol', detail: string): void }
  #busy = false

  constructor(
    core: SessionCore,
    timer: SessionTimer,
    hooks: { isReofferUnderWay(): boolean; onGone(cause: 'timeout' | 'protocol', detail: string): void },
  ) {
    this.#core = core
    this.#timer = timer
    this.#hooks = hooks
  }

  start(): void {
    // A re-INVITE of ours refreshes as well.
    if (this.#busy || this.#core.state !== 'confirmed' || this.#hooks.isReofferUnderWay()) return
    if (!this.#core.peerTakesUpdate) {
      this.#core.emit({ type: 'refresh' })
      return
    }
    this.#busy = true
    this.#core.request({
      method: 'UPDATE',
      withContact: true,
      headers: () => headersWith([...abilityHeaders(WITHOUT_100REL), ...this.#timer.requestHeaders()]),
      revise: response => this.#timer.raise(response),
      onResponse: response => this.#onResponse(response),
      onFailure: failure => this.#onFailure(failure),
    })
  }

  #onResponse(response: SipResponse): void {
    const { status, reason } = response
    if (status < 200) return
    this.#busy = false
    if (this.#core.state !== 'confirmed') return
    if (status < 300) {
      this.#core.noteAbilities(response)
      // RFC 3311 section 5.1: UPDATE refreshes the remote target.
      this.#core.dialog?.refreshTarget(response)
      this.#timer.answered(response)
      return
    }
    switch (status) {
      case 405:
      case 501:
        this.#core.peerTakesUpdate = false
        this.start()
        return
      case 491:
        this.#timer.retryAfter(glareBackOff(this.#core.ctx.random, this.#core.direction === 'outbound'))
        return
      // RFC 4028 section 7.4, 12.2.1.2: the session no longer exists.
      case 408:
      case 481:
        this.#hooks.onGone(status === 408 ? 'timeout' : 'protocol', `UPDATE answered ${status} ${reason}`)
        return
      // Any other status: the next attempt comes in time, and the session lasts until it expires.
      default:
        this.#retryWhenAsked(response)
    }
  }

  #retryWhenAsked(response: SipResponse): void {
    const header = response.headers.get('Retry-After')
    const after = header === undefined ? undefined : parseRetryAfter(header)?.seconds
    // RFC 3311 section 5.3: a 500 carries a Retry-After of 0 to 10 seconds.
    if (response.status === 500 && after !== undefined && after <= 10) this.#timer.retryAfter(1000 * Math.max(after, 1))
  }

  #onFailure(failure: RequestFailure): void {
    this.#busy = false
    // No answer at all ends the session; a dead connection does not, the next attempt dials again.
    if (failure.cause === 'timeout') this.#hooks.onGone('timeout', `UPDATE: ${failure.detail}`)
  }
}
