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
  refuseOffer,
  withdrawOffer,
} from '@parley/media'
import type { Body, SipRequest } from '@parley/sip'
import type { LegSecurity } from './leg.ts'

interface NegotiationOptions {
  /** Where the peer sends its RTP. */
  readonly address: string
  readonly port: number
  readonly security: LegSecurity
  /** In preference; default PCMU, PCMA. */
  readonly codecs?: readonly CodecName[] | undefined
  readonly random: Random
}

type Answer =
  | { readonly ok: true; readonly body: Body; readonly parameters: MediaParameters }
  /** `warning` is a whole Warning value (RFC 3261 section 20.43). */
  | { readonly ok: false; readonly status: number; readonly warning: string; readonly detail: string }

type Agreement =
  | { readonly ok: true; readonly parameters: MediaParameters }
  | { readonly ok: false; readonly detail: string }

/** The offer/answer exchanges of one leg, in order (RFC 3264, RFC 6337): what stands, and at most one offer of ours that waits. */
export class Negotiation {
  readonly #options: NegotiationOptions
  readonly #sessionId: string
  #wanted: MediaDirection = 'sendrecv'
  /** What was wanted before the offer that waits: stands again when it is withdrawn. */
  #wantedBefore: MediaDirection = 'sendrecv'
  #state: LocalDescriptionState | null = null
  #pending: PendingOffer | null = null
  /** The state that the answer to `#pending` would leave. */
  #answered: LocalDescriptionState | null = null
  #agreed: MediaParameters | null = null

  constructor(options: NegotiationOptions) {
    this.#options = options
    this.#sessionId = String(randomUint32(options.random))
  }

  /** An offer of ours waits for its answer. */
  get offered(): boolean {
    return this.#pending !== null
  }

  /** The peer does not listen although we want to send. */
  get heldByPeer(): boolean {
    const direction = this.#agreed?.direction
    return (
      this.#wanted !== 'recvonly' &&
      this.#wanted !== 'inactive' &&
      (direction === 'recvonly' || direction === 'inactive')
    )
  }

  /** Our offer; unchanged but for what `change` says. The direction stays wanted, unless the offer is withdrawn. */
  offer(change: { readonly direction?: MediaDirection; readonly rekey?: boolean }): Body {
    if (this.#pending === null) this.#wantedBefore = this.#wanted
    this.#wanted = change.direction ?? this.#wanted
    const created = createOffer(this.#local(change.rekey === true))
    this.#pending = created.pending
    this.#answered = null
    return sdpBody(created.offer)
  }

  /** Answers the peer's offer; agreed once the answer is sent, which the caller must do with `body`. */
  answer(offer: Body): Answer {
    const planned = plan(this.#local(false), offer)
    if (!planned.ok) return planned
    this.#state = planned.state
    this.#agreed = planned.parameters
    return { ok: true, body: planned.body, parameters: planned.parameters }
  }

  /** The peer's answer to our offer; may come again, in a later response, until `settle`. */
  acceptAnswer(answer: Body): Agreement {
    if (this.#pending === null) return { ok: false, detail: 'an SDP answer came although nothing was offered' }
    const extracted = extractSdp(contentTypeOf(answer), answer.bytes)
    if (!extracted.ok) return { ok: false, detail: extracted.detail }
    const accepted = acceptAnswer(this.#pending, extracted.sdp)
    if (!accepted.ok) return { ok: false, detail: accepted.detail }
    const parameters = withKnownKey(accepted.parameters)
    this.#answered = accepted.state
    this.#agreed = parameters
    return { ok: true, parameters }
  }

  /** The exchange of our offer is over: what was last accepted stands. */
  settle(): void {
    if (this.#answered !== null) this.#state = this.#answered
    this.#pending = null
    this.#answered = null
  }

  /** Our offer was refused, or its exchange never happened: what stood before still stands. */
  withdraw(): void {
    if (this.#pending === null) return
    this.#state = withdrawOffer(this.#pending)
    this.#wanted = this.#wantedBefore
    this.#pending = null
    this.#answered = null
  }

  /** An answer that takes none of the offered streams, for an ACK that has to carry one; undefined: the offer is no SDP. */
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
      direction: this.#wanted,
      random,
      renewKeys,
      ...(codecs && { codecs }),
      ...(this.#state && { previous: this.#state }),
    }
  }

  /**
   * What would be answered to an INVITE's offer, found before anything is leased for it: the refusal, or the codec. null:
   * it has no offer.
   */
  static preview(
    invite: SipRequest,
    { security, codecs, random }: Pick<NegotiationOptions, 'security' | 'codecs' | 'random'>,
  ): Answer | null {
    const offer = inviteOffer(invite)
    if (offer === undefined) return null
    return plan({ address: '127.0.0.1', port: 9, sessionId: '0', security, random, ...(codecs && { codecs }) }, offer)
  }
}

/** The offer in an INVITE, or undefined: the peer wants ours. */
export function inviteOffer(invite: SipRequest): Body | undefined {
  if (invite.body.length === 0) return undefined
  return { contentType: invite.headers.get('Content-Type') ?? 'application/sdp', bytes: invite.body }
}

function plan(
  local: LocalMedia,
  offer: Body,
): (Answer & { ok: false }) | (Answer & { ok: true; state: LocalDescriptionState }) {
  const extracted = extractSdp(contentTypeOf(offer), offer.bytes)
  if (!extracted.ok)
    return {
      ok: false,
      status: extracted.status,
      warning: warningValue(399, extracted.detail),
      detail: extracted.detail,
    }
  const planned = planAnswer(local, extracted.sdp)
  if (!planned.ok) {
    const { status, detail } = planned
    return { ok: false, status, warning: warningValue(planned.warningCode, planned.warning), detail }
  }
  return { ok: true, body: sdpBody(planned.answer), parameters: planned.parameters, state: planned.state }
}

/** Whoever answered our offer has our key already: media may use it at once. */
function withKnownKey(parameters: MediaParameters): MediaParameters {
  return parameters.srtp === null ? parameters : { ...parameters, srtp: { ...parameters.srtp, peerHasSendKey: true } }
}

function warningValue(code: number, text: string): string {
  return `${code} parley "${text.replaceAll(/["\\\r\n]/g, ' ')}"`
}

function contentTypeOf(body: Body): string {
  return body.header ?? body.contentType
}

function sdpBody(bytes: Uint8Array): Body {
  return { contentType: 'application/sdp', bytes }
}
