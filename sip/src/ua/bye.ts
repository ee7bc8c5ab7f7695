import type { Ms, Timer } from '@parley/kernel'
import type { Dialog } from '../dialog/dialog.ts'
import type { SipResponse } from '../message/message.ts'
import { parseRetryAfter } from '../message/retry-after.ts'
import type { Flow } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import { reasonHeaders } from './cancel.ts'
import { sendInDialog } from './in-dialog-request.ts'
import type { HeaderReason } from './session.ts'
import type { UaContext } from './ua-context.ts'

/** Outcome of a BYE. */
export interface ByeOutcome {
  /** The peer answered 2xx, or 481: it has no such dialog. After anything else the call may go on at the peer. */
  readonly confirmed: boolean
  /** Last final status; undefined without one. */
  readonly status: number | undefined
  readonly detail: string
}

/** Refusals that say nothing about the dialog (RFC 5057 section 5.1), and that another BYE may overcome. */
const RETRIED: ReadonlySet<number> = new Set([401, 407, 500, 503])

/** Pause before the second BYE; it doubles up to T2. */
const FIRST_PAUSE_MS: Ms = 500

interface ByeOptions {
  readonly dialog: Dialog
  readonly identity: CallIdentity
  readonly flow: Flow | undefined
  readonly reason: HeaderReason | undefined
}

/**
 * Ends a dialog by BYE (RFC 3261 section 15.1.1).
 *
 *     sent --2xx, 481--> confirmed
 *     sent --401, 407, 500, 503--> pausing --> sent, with the next CSeq number
 *     sent --any other final status, no response--> unconfirmed
 *     pausing, sent again --64*T1 after the first BYE--> unconfirmed
 */
class ByeExchange {
  readonly #ctx: UaContext
  readonly #options: ByeOptions
  readonly #done: (outcome: ByeOutcome) => void
  readonly #deadline: Ms
  #flow: Flow | undefined
  #pause: Ms = FIRST_PAUSE_MS
  #lastStatus: number | undefined
  #timer: Timer | undefined
  #limit: Timer | undefined
  #over = false

  constructor(ctx: UaContext, options: ByeOptions, done: (outcome: ByeOutcome) => void) {
    this.#ctx = ctx
    this.#options = options
    this.#done = done
    this.#flow = options.flow
    this.#deadline = ctx.time.now() + 64 * ctx.timers.t1
  }

  send(): void {
    const { dialog, identity, reason } = this.#options
    sendInDialog(this.#ctx, {
      dialog,
      identity,
      flow: this.#flow,
      method: 'BYE',
      headers: reasonHeaders(reason),
      onResponse: (response, flow) => {
        if (response.status >= 200) this.#onFinal(response, flow)
      },
      onFailure: failure => this.#finish({ confirmed: false, detail: `BYE: ${failure.detail}` }),
    })
  }

  #onFinal(response: SipResponse, flow: Flow): void {
    if (this.#over) return
    const { status } = response
    this.#lastStatus = status
    this.#flow = flow
    const detail = `BYE answered ${status}`
    if (RETRIED.has(status)) this.#retry(response, detail)
    else this.#finish({ confirmed: status < 300 || status === 481, detail })
  }

  #retry(response: SipResponse, detail: string): void {
    const { time, timers } = this.#ctx
    this.#limit ??= time.at(this.#deadline, () =>
      this.#finish({ confirmed: false, detail: `BYE answered ${this.#lastStatus} until its time limit` }),
    )
    const requested = parseRetryAfter(response.headers.get('Retry-After') ?? '')?.seconds ?? 0
    const resumeAt = time.now() + Math.max(this.#pause, 1000 * requested)
    this.#pause = Math.min(2 * this.#pause, timers.t2)
    if (resumeAt >= this.#deadline) return
    this.#ctx.log('debug', 'bye_retried', `${detail}: the BYE is sent again`)
    this.#timer = time.at(resumeAt, () => this.send())
  }

  #finish(outcome: Pick<ByeOutcome, 'confirmed' | 'detail'>): void {
    if (this.#over) return
    this.stop()
    this.#done({ ...outcome, status: this.#lastStatus })
  }

  /** No further BYE is sent, and `done` is not called any more. */
  stop(): void {
    this.#over = true
    this.#timer?.cancel()
    this.#limit?.cancel()
  }
}

/**
 * Sends the BYE of a dialog. `done` is called once, within Timer F of the last target, and within 64*T1 once the peer has
 * refused the BYE. The returned function gives up: no further BYE is sent, and `done` is not called any more.
 */
export function sendBye(ctx: UaContext, options: ByeOptions, done: (outcome: ByeOutcome) => void): () => void {
  const exchange = new ByeExchange(ctx, options, done)
  exchange.send()
  return () => exchange.stop()
}
