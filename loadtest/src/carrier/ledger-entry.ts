import type { Ms, UnixMs } from '@parley/kernel'

/**
 * Kinds of rows in a carrier's ledger. Each row records an event on the wire.
 *
 * - `invite`: an INVITE outside a dialog was accepted, or was sent by the carrier; the call is live from here on.
 * - `challenged`: an INVITE was answered 401 or 407. Nothing is live yet.
 * - `ringing`, `answered`, `refused`: the first 18x, the 2xx, the final answer of 300 or more to that INVITE.
 * - `acknowledged`: the first ACK to the 2xx.
 * - `cancel`, `bye-received`, `bye-sent`: the first such request.
 * - `refer-received`, `refer-sent`, `refer-answered`: each REFER in the call, and its final answer; `transferred`: the outcome
 *   of the call that the carrier made to the target on behalf of the far end.
 * - `ended`: once at most, when the end is confirmed (the BYE was answered, the INVITE refused) or the carrier gave up.
 * - `media-first-packet`, `media-last-packet`: authentic RTP of the far end begins, and stops: for a second, or with the
 *   call. Where it comes back there is another pair.
 */
export type CarrierLedgerKind =
  | 'invite'
  | 'challenged'
  | 'ringing'
  | 'answered'
  | 'acknowledged'
  | 'refused'
  | 'cancel'
  | 'bye-received'
  | 'bye-sent'
  | 'refer-received'
  | 'refer-sent'
  | 'refer-answered'
  | 'transferred'
  | 'ended'
  | 'media-first-packet'
  | 'media-last-packet'

/** Direction of the call: the engine calls a number of the carrier, or the carrier calls the engine. */
export type CarrierDirection = 'to-carrier' | 'from-carrier'

/** One row: one line of JSON in the ledger file. */
export interface CarrierLedgerEntry {
  /** The instant the row is about, on a monotonic clock that starts with the carrier. Rows of media may lie before the row above. */
  readonly at_ms: Ms
  /** The same instant on the wall clock. */
  readonly wall_ms: UnixMs
  readonly kind: CarrierLedgerKind
  readonly direction: CarrierDirection
  /** Call-ID and the caller's tag: one dialog, or one attempt at one. */
  readonly call: string
  readonly call_id: string
  /** URIs of From and To without their tags. */
  readonly from: string
  readonly to: string
  /** User part of the Request-URI of the INVITE. */
  readonly called: string
  /** CSeq and Via branch of the request that the row is about, or that it answers; for rows of media those of the INVITE. */
  readonly cseq: number
  readonly branch: string
  /** Far end, "udp 127.0.0.1:5062". */
  readonly source: string
  /** The INVITE carried credentials that prove the account. */
  readonly authenticated: boolean
  /** Status of `challenged`, `ringing`, `answered`, `refused`, `refer-answered`, `transferred`. */
  readonly status?: number
  /** User part of Refer-To, of REFERs and `transferred`. */
  readonly target?: string
  /** Further details: how the call ended, why the credentials were refused, number of packets. */
  readonly detail?: string
  /** `X-` headers of `invite` and `challenged`, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}
