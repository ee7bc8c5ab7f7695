import type { Random } from '@parley/kernel'
import { randomUint32 } from '@parley/kernel'
import {
  acceptAnswer,
  type CodecName,
  createOffer,
  extractSdp,
  type LocalDescriptionState,
  type LocalMedia,
  type MediaDirection,
  type MediaParameters,
  type PendingOffer,
  planAnswer,
  previewAnswer,
  refuseOffer,
  withdrawOffer,
} from '@parley/media'
import type { Body, SipRequest } from '@parley/sip'
import { type LegDestinations, permitDestination } from './media-destinations.ts'

interface NegotiationOptions {
  /** Address to which the peer sends its RTP. */
  readonly address: string
  readonly port: number
  readonly security: LocalMedia['security']
  /** In order of preference; default PCMU, PCMA. */
  readonly codecs?: readonly CodecName[] | undefined
  readonly random: Random
  /** Limits on where media is sent; default none. */
  readonly destinations?: LegDestinations | undefined
}

interface Refused {
  readonly ok: false
  readonly status: number
  /** A complete Warning header value (RFC 3261 section 20.43). */
  readonly warning: string
  readonly detail: string
}

type Answer = { readonly ok: true; readonly body: Body; readonly parameters: MediaParameters } | Refused

type Agreement =
  | { readonly ok: true; readonly parameters: MediaParameters }
  | { readonly ok: false; readonly detail: string }

/** Offer/answer state of one leg (RFC 3264, RFC 6337): the agreed session and at most one pending offer of ours. */
export class Negotiation {
  readonly #options: NegotiationOptions
  readonly #sessionId: string
  #direction: MediaDirection = 'sendrecv'
  /** Direction from before the pending offer; restored when that is withdrawn. */
  #directionBefore: MediaDirection = 'sendrecv'
  #state: LocalDescriptionState | null = null
  #pending: PendingOffer | null = null
  /** State after the answer to `#pending`, applied by `settle`. */
  #answered: LocalDescriptionState | null = null
  #agreed: MediaParameters | null = null

  constructor(options: NegotiationOptions) {
    this.#options = options
    this.#sessionId = String(randomUint32(options.random))
  }

  /** Whether an offer of ours is pending. */
  get offered(): boolean {
    return this.#pending !== null
  }

  /** Whether the peer does not receive although our direction includes sending. */
  get heldByPeer(): boolean {
    const direction = this.#agreed?.direction
    return (
      this.#direction !== 'recvonly' &&
      this.#direction !== 'inactive' &&
      (direction === 'recvonly' || direction === 'inactive')
    )
  }

  /** Creates an offer of the agreed session with `change` applied. `withdraw` restores the previous direction. */
  offer(change: { readonly direction?: MediaDirection; readonly rekey?: boolean }): Body {
    if (this.#pending === null) this.#directionBefore = this.#direction
    this.#direction = change.direction ?? this.#direction
    const created = createOffer(this.#local(change.rekey === true))
    this.#pending = created.pending
    this.#answered = null
    return sdpBody(created.offer)
  }

  /** Answers the peer's offer; the result is in force at once, so the caller must send `body`. */
  answer(offer: Body): Answer {
    const result = agreed(offer, this.#options.destinations, sdp => planAnswer(this.#local(false), sdp))
    if (!result.ok) return result
    const { parameters, planned } = result
    this.#state = planned.state
    this.#agreed = parameters
    return { ok: true, body: sdpBody(planned.answer), parameters }
  }

  /** The peer's answer to our offer. A later response may carry another one until `settle`. */
  acceptAnswer(answer: Body): Agreement {
    if (this.#pending === null) return { ok: false, detail: 'an SDP answer was received without a pending offer' }
    const extracted = extractSdp(contentTypeOf(answer), answer.bytes)
    if (!extracted.ok) return { ok: false, detail: extracted.detail }
    const accepted = acceptAnswer(this.#pending, extracted.sdp)
    if (!accepted.ok) return { ok: false, detail: accepted.detail }
    const permitted = permit(accepted.parameters, this.#options.destinations)
    if (!permitted.ok) return permitted
    const parameters = withKnownKey(permitted.parameters)
    this.#answered = accepted.state
    this.#agreed = parameters
    return { ok: true, parameters }
  }

  /** Ends the exchange of our offer: the last accepted answer is in force. */
  settle(): void {
    if (this.#answered !== null) this.#state = this.#answered
    this.#pending = null
    this.#answered = null
  }

  /** Our offer was refused or not answered: the previously agreed session stays in force. */
  withdraw(): void {
    if (this.#pending === null) return
    this.#state = withdrawOffer(this.#pending)
    this.#direction = this.#directionBefore
    this.#pending = null
    this.#answered = null
  }

  /** An answer that rejects every offered stream, for an ACK that must carry one; undefined when the offer is not SDP. */
  refusal(offer: Body): Body | undefined {
    const extracted = extractSdp(contentTypeOf(offer), offer.bytes)
    const answer = extracted.ok ? refuseOffer(this.#local(false), extracted.sdp) : null
    return answer === null ? undefined : sdpBody(answer)
  }

  #local(renewKeys: boolean): LocalMedia {
    const { address, port, security, codecs, random } = this.#options
    return {
      address,
      port,
      sessionId: this.#sessionId,
      security,
      direction: this.#direction,
      random,
      renewKeys,
      ...(codecs && { codecs }),
      ...(this.#state && { previous: this.#state }),
    }
  }

  /**
   * What would be agreed with an INVITE's offer, before a media port is allocated: the refusal, or the parameters without keys.
   * Null: the INVITE has no offer.
   */
  static preview(
    invite: SipRequest,
    { security, codecs, destinations }: Pick<NegotiationOptions, 'security' | 'codecs' | 'destinations'>,
  ): Refused | PlannedParameters | null {
    const offer = inviteOffer(invite)
    if (offer === undefined) return null
    return agreed(offer, destinations, sdp => previewAnswer({ security, ...(codecs && { codecs }) }, sdp))
  }
}

/** The offer in an INVITE; undefined: none, so that the offer is ours to make (delayed offer). */
export function inviteOffer(invite: SipRequest): Body | undefined {
  if (invite.body.length === 0) return undefined
  return { contentType: invite.headers.get('Content-Type') ?? 'application/sdp', bytes: invite.body }
}

interface PlannedParameters {
  readonly ok: true
  readonly parameters: MediaParameters
}

/** What `plan` makes of the SDP of an offer, with the limits on where media is sent. */
function agreed<Planned extends PlannedParameters>(
  offer: Body,
  destinations: LegDestinations | undefined,
  plan: (sdp: Uint8Array) => Planned | Exclude<ReturnType<typeof previewAnswer>, PlannedParameters>,
): Refused | (PlannedParameters & { readonly planned: Planned }) {
  const extracted = extractSdp(contentTypeOf(offer), offer.bytes)
  if (!extracted.ok) return refused(extracted.status, 399, extracted.detail)
  const planned = plan(extracted.sdp)
  if (!planned.ok) return refused(planned.status, planned.warningCode, planned.detail, planned.warning)
  const permitted = permit(planned.parameters, destinations)
  if (!permitted.ok) return refused(488, 399, permitted.detail)
  return { ok: true, parameters: permitted.parameters, planned }
}

function refused(status: number, warningCode: number, detail: string, warning = detail): Refused {
  return { ok: false, status, warning: warningValue(warningCode, warning), detail }
}

function permit(
  parameters: MediaParameters,
  destinations: LegDestinations | undefined,
): ReturnType<typeof permitDestination> {
  return destinations === undefined ? { ok: true, parameters } : permitDestination(parameters, destinations)
}

/** A peer that answers our offer already has our SRTP key, so that media may use it at once. */
function withKnownKey(parameters: MediaParameters): MediaParameters {
  return parameters.srtp === null ? parameters : { ...parameters, srtp: { ...parameters.srtp, peerHasSendKey: true } }
}

export function warningValue(code: number, text: string): string {
  return `${code} parley "${text.replaceAll(/["\\\r\n]/g, ' ')}"`
}

function contentTypeOf(body: Body): string {
  return body.header ?? body.contentType
}

function sdpBody(bytes: Uint8Array): Body {
  return { contentType: 'application/sdp', bytes }
}
