import { type Random, randomUint32 } from '@parley/kernel'
import {
  acceptAnswer,
  createOffer,
  extractSdp,
  type LocalDescriptionState,
  type LocalMedia,
  type MediaParameters,
  type PendingOffer,
  planAnswer,
} from '@parley/media'
import type { Body } from '@parley/sip'

type AgreedAnswer =
  | { readonly ok: true; readonly body: Body; readonly parameters: MediaParameters }
  | { readonly ok: false; readonly status: number; readonly detail: string }

/** One call's offers and answers (RFC 3264), from a side that accepts every usable offer. */
export class AudioAgreement {
  readonly #local: LocalMedia
  #state: LocalDescriptionState | null = null
  #pending: PendingOffer | null = null

  constructor(local: Pick<LocalMedia, 'address' | 'port' | 'security'>, random: Random) {
    this.#local = { ...local, random, sessionId: String(randomUint32(random)) }
  }

  answer(offer: Body): AgreedAnswer {
    const extracted = extractSdp(offer.header ?? offer.contentType, offer.bytes)
    if (!extracted.ok) return { ok: false, status: extracted.status, detail: extracted.detail }
    const planned = planAnswer(this.#next(), extracted.sdp)
    if (!planned.ok) return { ok: false, status: planned.status, detail: planned.detail }
    this.#state = planned.state
    return { ok: true, body: sdp(planned.answer), parameters: planned.parameters }
  }

  offer(): Body {
    const created = createOffer(this.#next())
    this.#pending = created.pending
    return sdp(created.offer)
  }

  /** The far end's answer to `offer`; null when it cannot be used. It may come in a provisional response first. */
  accept(answer: Body | undefined): MediaParameters | null {
    if (answer === undefined || this.#pending === null) return null
    const extracted = extractSdp(answer.header ?? answer.contentType, answer.bytes)
    const accepted = extracted.ok ? acceptAnswer(this.#pending, extracted.sdp) : null
    if (accepted?.ok !== true) return null
    this.#state = accepted.state
    return accepted.parameters
  }

  #next(): LocalMedia {
    return this.#state === null ? this.#local : { ...this.#local, previous: this.#state }
  }
}

function sdp(bytes: Uint8Array): Body {
  return { contentType: 'application/sdp', bytes }
}
