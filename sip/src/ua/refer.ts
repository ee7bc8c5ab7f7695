import type { Timer } from '@parley/kernel'
import { SipStateError } from '../errors.ts'
import type { NameAddr, SipResponse, Uri } from '../message/message.ts'
import { serialiseNameAddr } from '../message/name-addr.ts'
import type { RequestFailure } from '../transaction/client-transaction.ts'
import type { ClientRequest } from './client-request.ts'
import { checkHeaders, headersWith } from './custom-headers.ts'
import type { ReferOptions } from './session.ts'
import type { SessionCore } from './session-core.ts'

/** Time limit of a transfer; then the last known status is reported. */
const DEFAULT_TIMEOUT_MS = 180_000

/** After the final status of the call to the target the subscription ends; this is how long we wait for a notifier to say so. */
const AFTER_FINAL_MS = 5000

/** Content of a NOTIFY of the refer package (RFC 3515 section 2.4.4). */
interface TransferStatus {
  /** Undefined: the body has no status line. */
  readonly status: number | undefined
  readonly reason: string
  readonly terminated: boolean
  readonly subscriptionReason: string | undefined
}

interface Transfer {
  request: ClientRequest | undefined
  referStatus: number | null
  finalSipStatus: number | null
  subscriptionReason: string | null
  /** Subscription-State was "terminated": at most the response to the REFER may still arrive. */
  terminated: boolean
  limit: Timer
}

/**
 * REFERs that we send (RFC 3515, RFC 5589 section 6), with the subscription that each of them makes (RFC 6665).
 *
 *     idle --refer--> asked --2xx--> subscribed --terminated, 5 s after a final status, timeout--> idle (refer-result)
 *                       |--300-699, no answer--> idle (refer-result)
 *
 * A NOTIFY may overtake the 2xx: then the result waits for it.
 */
export class OutgoingRefer {
  readonly #core: SessionCore
  readonly #onGone: (detail: string) => void
  #transfer: Transfer | undefined

  /** `onGone`: the peer no longer has the dialog. */
  constructor(core: SessionCore, onGone: (detail: string) => void) {
    this.#core = core
    this.#onGone = onGone
  }

  send(target: NameAddr | Uri, options: ReferOptions): void {
    if (this.#transfer !== undefined) throw new SipStateError('another refer', this.#core.state)
    const { headers = [], referredBy, timeoutMs = DEFAULT_TIMEOUT_MS } = options
    checkHeaders(headers)
    const address = 'uri' in target ? target : { displayName: undefined, uri: target, params: new Map() }
    const own: [string, string][] = [['Refer-To', serialiseNameAddr(address, 'Refer-To')]]
    if (referredBy !== undefined) own.push(['Referred-By', serialiseNameAddr(referredBy, 'Referred-By')])
    const { time } = this.#core.ctx
    const transfer: Transfer = {
      request: undefined,
      referStatus: null,
      finalSipStatus: null,
      subscriptionReason: null,
      terminated: false,
      limit: time.at(time.now() + timeoutMs, () => this.#finish(transfer)),
    }
    this.#transfer = transfer
    transfer.request = this.#core.request({
      method: 'REFER',
      // The target must not be called twice.
      once: true,
      withContact: true,
      headers: headersWith(headers, headersWith(own)),
      onResponse: response => this.#onResponse(transfer, response),
      onFailure: failure => this.#onFailure(transfer, failure),
    })
  }

  #onResponse(transfer: Transfer, response: SipResponse): void {
    const { status } = response
    if (status < 200 || this.#transfer !== transfer) return
    transfer.referStatus = status
    // RFC 4488: without a subscription there are no NOTIFYs.
    const silent = /^false\b/i.test(response.headers.get('Refer-Sub') ?? '')
    if (status >= 300 || transfer.terminated || silent) this.#finish(transfer)
    // 12.2.1.2: a 481 means that the dialog no longer exists.
    if (status === 481) this.#onGone(`REFER answered ${status} ${response.reason}`)
  }

  #onFailure(transfer: Transfer, failure: RequestFailure): void {
    if (this.#transfer !== transfer) return
    // 8.1.3.1: a timeout counts as 408, a transport error as 503.
    transfer.referStatus = failure.cause === 'timeout' ? 408 : 503
    this.#finish(transfer)
  }

  /** RFC 3515 section 2.4.6: whether a NOTIFY with this event id, or none, belongs to the pending REFER. */
  expects(eventId: string | undefined): boolean {
    const { request } = this.#transfer ?? {}
    return request !== undefined && (eventId === undefined || eventId === String(request.sequence))
  }

  notified(notice: TransferStatus): void {
    const transfer = this.#transfer
    if (transfer === undefined || transfer.terminated) return
    if (notice.status !== undefined) {
      this.#core.emit({ type: 'refer-progress', status: notice.status, reason: notice.reason })
      if (notice.status >= 200) this.#noteFinal(transfer, notice.status)
    }
    if (!notice.terminated) return
    transfer.terminated = true
    transfer.subscriptionReason = notice.subscriptionReason ?? null
    if (transfer.referStatus !== null) this.#finish(transfer)
  }

  #noteFinal(transfer: Transfer, status: number): void {
    const { time } = this.#core.ctx
    transfer.finalSipStatus = status
    transfer.limit.cancel()
    transfer.limit = time.at(time.now() + AFTER_FINAL_MS, () => this.#finish(transfer))
  }

  #finish(transfer: Transfer): void {
    if (this.#transfer !== transfer) return
    this.#transfer = undefined
    transfer.limit.cancel()
    const { referStatus, finalSipStatus, subscriptionReason } = transfer
    this.#core.emit({ type: 'refer-result', referStatus, finalSipStatus, subscriptionReason })
  }

  /** The session ends: reports the last known status as result. */
  stop(): void {
    if (this.#transfer !== undefined) this.#finish(this.#transfer)
  }
}
