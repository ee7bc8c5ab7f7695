import { SipStateError } from '../errors.ts'
import { inspectRequest } from '../message/inspect-request.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { EXTENSIONS, METHODS } from './capabilities.ts'
import type { Body } from './session.ts'
import { bodyOf, type SessionCore } from './session-core.ts'
import { respond } from './ua-context.ts'

/** Most digits that wait behind an unanswered INFO. */
const MAX_WAITING = 64

/** INFO in the dialog (RFC 6086, as RFC 2976 used it): one at a time, so that digits keep their order over UDP. */
export class InfoExchange {
  readonly #core: SessionCore
  readonly #onGone: (status: number) => void
  readonly #waiting: Body[] = []
  #busy = false

  /** `onGone`: the peer no longer has the dialog. */
  constructor(core: SessionCore, onGone: (status: number) => void) {
    this.#core = core
    this.#onGone = onGone
  }

  send(body: Body): void {
    if (this.#waiting.length >= MAX_WAITING) throw new SipStateError('another info', this.#core.state)
    this.#waiting.push(body)
    this.#next()
  }

  #next(): void {
    if (this.#busy || this.#core.state !== 'confirmed') return
    const body = this.#waiting.shift()
    if (body === undefined) return
    this.#busy = true
    this.#core.request({
      method: 'INFO',
      // A digit must not be dialled twice.
      once: true,
      body,
      onResponse: response => {
        if (response.status >= 200) this.#done(response.status)
      },
      // 8.1.3.1: a timeout counts as 408, a transport error as 503.
      onFailure: failure => this.#done(failure.cause === 'timeout' ? 408 : 503),
    })
  }

  #done(status: number): void {
    this.#busy = false
    this.#core.emit({ type: 'info-result', status })
    // 12.2.1.2: a 481 means that the dialog no longer exists.
    if (status === 481) this.#onGone(status)
    else this.#next()
  }

  /** Handles the peer's INFO: an event if its type is accepted, otherwise 415 with Accept. */
  receive(request: SipRequest): SipResponse {
    const { ctx } = this.#core
    const rejection = inspectRequest(request, {
      methods: METHODS,
      extensions: EXTENSIONS,
      mediaTypes: ctx.acceptedInfoTypes,
    })
    if (rejection !== undefined) return respond(ctx, request, rejection.status, { extra: rejection.headers })
    const body = bodyOf(request)
    if (body !== undefined) this.#core.emit({ type: 'info', body })
    return respond(ctx, request, 200)
  }
}
