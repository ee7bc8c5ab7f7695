import type { Ms } from '@parley/kernel'
import type { DialogSnapshot } from '../dialog/dialog-snapshot.ts'
import type { NameAddr, SipRequest, SipUri, Uri } from '../message/message.ts'
import type { IpNetwork } from '../transport/ip-network.ts'
import type { Flow, NextHop } from '../transport/transport.ts'
import type { InviteAttempt } from './invite-attempt.ts'
import type { SessionTimerOptions } from './session-timer-options.ts'

export type Direction = 'inbound' | 'outbound'

/** A body with its type; SIP does not look inside. */
export interface Body {
  /** Lower-cased media type without parameters, "application/sdp". */
  readonly contentType: string
  readonly bytes: Uint8Array
  /** The whole Content-Type value of a body that was received: only this has parameters such as a multipart boundary. */
  readonly header?: string
}

/**
 * One INVITE session (RFC 3261 sections 13 to 15), the same for both directions.
 *
 *     outbound: calling -> early -> confirmed -> terminating -> terminated
 *     inbound:  incoming -> early -> confirmed -> terminating -> terminated
 *
 * Commands that do not fit the state throw `SipStateError` (code "wrong_state"); they never send an illegal message.
 */
export interface InviteSession {
  readonly direction: Direction
  readonly callId: string
  readonly state: 'calling' | 'incoming' | 'early' | 'confirmed' | 'terminating' | 'terminated'
  /** The initial INVITE as received or as first sent. */
  readonly invite: SipRequest
  /** The flow of the last message exchanged; undefined before the first send resolved. */
  readonly flow: Flow | undefined
  /** The dialog as plain data, with its CSeq as of now; undefined before there is one (no tag of the peer yet). */
  readonly dialog: DialogSnapshot | undefined
  /** Listener for events, called with one at a time and never synchronously during a command; set it once, before the first await. */
  onEvent(listener: (event: SessionEvent) => void): void

  /** Inbound before the answer: 180 or 183, or any 101..199. */
  progress(status: number, body?: Body): void
  /**
   * Inbound: 200 with our SDP: the answer, or the offer when the INVITE had none. Retransmitted until ACK. It waits for
   * the PRACK of a reliable 18x that carried SDP (RFC 3262 section 3): until then the session stays "early".
   */
  answer(body: Body, options?: AnswerOptions): void
  /** Inbound before the answer: 300..699. */
  reject(
    status: number,
    options?: { readonly reason?: string; readonly retryAfterS?: number; readonly headers?: HeaderPairs },
  ): void
  /**
   * Our answer, sent in the ACK, when we sent no offer: outbound with delayed offer (no body in `invite`) after
   * `answered`, or after the `reoffer-answered` of `reoffer(undefined)`. Must follow at once: the peer waits 64*T1.
   */
  acknowledge(body: Body): void
  /** Ends the session in any state: by CANCEL, BYE, or a 480 to an unanswered inbound INVITE. Idempotent. `ended` follows. */
  hangUp(options?: { readonly reason?: HeaderReason }): void

  /** re-INVITE with an offer, or without one (the peer offers). Outcome: `reoffer-answered` or `reoffer-rejected`. 491 glare is retried inside. */
  reoffer(body: Body | undefined): void
  /** Answer to an `offer` event: 200 with `body` (our answer, or our offer when the re-INVITE had none). */
  acceptOffer(body: Body): void
  /** Refuse an `offer`: 488 and so on; the session stays as it was. */
  rejectOffer(status: number, warning?: string): void
  /** INFO in the dialog; the outcome is the event `info-result`. */
  info(body: Body): void
  /**
   * Asks the far end to call `target` instead of us (blind transfer: RFC 3515, RFC 5589 section 6). `refer-progress`
   * follows for every status that it reports, then `refer-result` once; the session stands until the owner hangs up.
   * One at a time: another one meanwhile throws "wrong_state".
   */
  refer(target: NameAddr | Uri, options?: ReferOptions): void
}

export interface AnswerOptions {
  /** Default: the user agent's. */
  readonly sessionTimer?: SessionTimerOptions
}

export interface ReferOptions {
  /** Referred-By (RFC 3892); default: none is sent. */
  readonly referredBy?: NameAddr
  /** Checked like those of `OutboundCall`. */
  readonly headers?: HeaderPairs
  /** Time limit of the result, in ms; default 180 s. */
  readonly timeoutMs?: number
}

export type HeaderPairs = readonly (readonly [name: string, value: string])[]

/** RFC 3326. */
export interface HeaderReason {
  readonly protocol: 'SIP' | 'Q.850'
  readonly cause: number
  readonly text?: string
}

export type SessionEvent =
  /** 100 arrived: the next hop has the INVITE. */
  | { readonly type: 'trying' }
  /** 101..199; `toTag` tells early dialogs apart. */
  | {
      readonly type: 'progress'
      readonly status: number
      readonly toTag: string | undefined
      /** An answer to our offer, for this early dialog only; undefined also after a reliable answer in the same dialog. */
      readonly body: Body | undefined
      /** It came reliably (RFC 3262): its body is the final answer of its early dialog. */
      readonly reliable?: true
    }
  /**
   * Outbound: 2xx. With a body: the answer of the dialog that answered, which replaces those of other forks (RFC 3261
   * section 13.2.2.4), ACK sent or held back by `beforeAcknowledging`; or, with delayed offer, the offer to `acknowledge`.
   */
  | { readonly type: 'answered'; readonly body: Body | undefined }
  /** Inbound: the ACK to our 2xx, with the answer when our 2xx carried the offer. */
  | { readonly type: 'acknowledged'; readonly body: Body | undefined }
  /**
   * Re-INVITE or UPDATE from the peer, or before our answer a PRACK with an offer (RFC 3262 section 5); undefined body: it wants our
   * offer, and `offer-answered` follows with the ACK.
   */
  | { readonly type: 'offer'; readonly body: Body | undefined }
  | { readonly type: 'offer-answered'; readonly body: Body | undefined }
  /** The peer's re-INVITE was withdrawn (CANCEL) or failed before it took effect: the session stays as it was. */
  | { readonly type: 'offer-withdrawn' }
  | { readonly type: 'reoffer-answered'; readonly body: Body | undefined }
  | { readonly type: 'reoffer-rejected'; readonly status: number }
  /** INFO of the peer, already answered 200 (an unsupported type is answered 415 and causes no event). */
  | { readonly type: 'info'; readonly body: Body }
  /** 408: no response; 503: the peer is unreachable, or the connection closed after the INFO, which is not sent twice. */
  | { readonly type: 'info-result'; readonly status: number }
  /**
   * The session timer wants a refresh and the peer does not support UPDATE: call `reoffer` with the current session
   * description, its version unchanged (RFC 4028 section 7.4). A re-offer in progress counts as refresh as well.
   */
  | { readonly type: 'refresh' }
  /** A session refresh succeeded (RFC 4028), sent by us or by the peer. */
  | { readonly type: 'refreshed'; readonly by: 'local' | 'remote' }
  /** Progress of the call that `refer` requested, as the far end reports it (message/sipfrag, RFC 3420). */
  | { readonly type: 'refer-progress'; readonly status: number; readonly reason: string }
  /** Outcome of `refer`, once, before `ended`. The application should hang up now. */
  | ({ readonly type: 'refer-result' } & ReferResult)
  /** The peer asked us by REFER to call `target` (the URI of Refer-To; undefined: unreadable). It was refused with this status. */
  | { readonly type: 'refer-refused'; readonly status: number; readonly target: string | undefined }
  /** Outbound: 3xx to the INVITE, with the URIs of its Contact in their order, at most eight. They are not called; `ended` follows. */
  | { readonly type: 'redirected'; readonly status: number; readonly targets: readonly string[] }
  /** Last event, exactly once. */
  | { readonly type: 'ended'; readonly end: SessionEnd }

/** Outcome of a transfer. */
interface ReferResult {
  /** Final status of the REFER: 2xx accepted, 408 no response, 503 peer unreachable; null when the session ended first. */
  readonly referStatus: number | null
  /** The last final status that was reported of the call to the target; null when none was. */
  readonly finalSipStatus: number | null
  /** Reason of the Subscription-State that ended the subscription ("noresource", …); null without one. */
  readonly subscriptionReason: string | null
}

/** How a session ended, decided once. */
export interface SessionEnd {
  /**
   * rejected: a final failure to or from us before the answer; cancelled: CANCEL, by either side; bye: BYE, by either
   * side; timeout: no response to our request, or no ACK; transport: the peer is unreachable; withheld: `beforeAttempt` of the
   * call rejected, and the INVITE was not sent.
   */
  readonly cause: 'rejected' | 'cancelled' | 'bye' | 'timeout' | 'transport' | 'protocol' | 'withheld'
  readonly by: 'local' | 'remote'
  /**
   * Final status of the INVITE: 200 for an established session; 408 for Timer B, 503 for transport and withheld, when none
   * was received.
   * With cause timeout: 487 when the ring timeout ran out and the far end confirmed it, 408 when it did not respond.
   */
  readonly status: number
  readonly reason: string
  /** Outbound: an INVITE of any attempt was or may have been sent. False: no INVITE was sent. Inbound: false. */
  readonly inviteLeft: boolean
  /**
   * The far end confirmed the end: it answered our BYE with 2xx or 481, or our CANCEL by a final response to the INVITE, or
   * sent a BYE or CANCEL itself. False: the call may go on there.
   */
  readonly confirmed: boolean
  /** Last final status of our BYE; undefined without a BYE of ours or without a response. */
  readonly byeStatus?: number | undefined
  /** One sentence for logs. */
  readonly detail: string
  /** Seconds, from the rejecting response. */
  readonly retryAfterS: number | undefined
}

export interface OutboundCall {
  /** Request-URI. */
  readonly uri: SipUri
  readonly from: NameAddr
  /** Default: `<uri>`. */
  readonly to?: NameAddr
  /** Next hop that overrides the URI (a trunk's address). */
  readonly nextHop?: NextHop
  /** Pre-loaded route set. */
  readonly route?: readonly NameAddr[]
  /** Answers 401/407 from this call's own next hop, once per nonce: over TLS that proved its name, or from one of its addresses. */
  readonly credentials?: Credentials
  /**
   * Networks that the trunk's requests come from. In-dialog requests from other addresses than these and the next hop's are
   * treated as outside the dialog. Default: not known, and any address may send them.
   */
  readonly sources?: readonly IpNetwork[]
  /** Additional headers; names and values are checked (no CR, LF, NUL; at most 1024 bytes a line). */
  readonly headers?: HeaderPairs
  /** The offer; absent for a delayed offer. */
  readonly body?: Body
  /** CANCEL after this long without a final answer; default 180 s. Time in `beforeAttempt` counts. */
  readonly ringTimeoutMs?: number
  /**
   * Called before each INVITE transaction: the first, one to the next target, with other headers after 401, 407 or 422,
   * over UDP where TCP was refused. The INVITE is sent when this resolves; when it rejects nothing more is sent and the
   * session ends "withheld". `hangUp` meanwhile sends nothing. No time limit of its own. Not called for retransmissions and
   * for a re-send on another connection to the same address: the same CANCEL matches those.
   */
  readonly beforeAttempt?: (attempt: InviteAttempt) => Promise<void>
  /**
   * Called once, with the dialog that the first 2xx created. Its ACK is sent when this resolves or rejects, after 2 s at the latest
   * (a warning is logged unless it resolved). The session is established and `answered` is delivered meanwhile; a BYE of ours
   * follows the ACK. Another process needs only this snapshot to end the call after a crash; without an ACK the far end ends
   * it by itself after 64*T1 (RFC 3261 section 13.3.1.4). Not called for forks that answer later: those are ended by BYE.
   */
  readonly beforeAcknowledging?: (dialog: DialogSnapshot) => Promise<void>
  /** Default: the user agent's. */
  readonly sessionTimer?: SessionTimerOptions
  /** Most time between two keep-alives on the connection of the answer, TLS or TCP; default, and at most, the transport's own. */
  readonly keepAliveMs?: Ms
}

export interface Credentials {
  readonly username: string
  readonly password: string
  /** Realms whose challenges are answered; default: those that challenged the call's INVITE. */
  readonly realms?: readonly string[]
}

/** Called for every request outside a dialog, before any state is kept. */
export type RequestGuard = (request: SipRequest, flow: Flow) => GuardDecision

export type GuardDecision =
  | {
      readonly action: 'accept'
      /** The peer's own name (a trunk's host): what in-dialog re-dials verify against. Default: the hop's host. */
      readonly serverName?: string
      /** Networks that the peer's requests come from: see `OutboundCall.sources`. */
      readonly sources?: readonly IpNetwork[]
      /**
       * Receives the session of this INVITE instead of `UserAgentOptions.onInvite`, and is called in the same way, so that what the guard
       * found for the request is not looked up again. Not called for other methods.
       */
      readonly onInvite?: (session: InviteSession) => void
    }
  /** Sends no response, so that scanners learn nothing. */
  | { readonly action: 'drop' }
  | { readonly action: 'reject'; readonly status: number; readonly retryAfterS?: number }
  /** Digest (RFC 8760: SHA-256 first, then MD5); after a proven password the guard is not called again for that request. */
  | {
      readonly action: 'challenge'
      readonly realm: string
      readonly passwordOf: (username: string) => string | undefined
    }
