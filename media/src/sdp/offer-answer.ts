import { codecByName, DEFAULT_CODECS, isCodecName } from '../codec/codecs.ts'
import { MAX_PACKET_MS } from '../dsp/reorder-buffer.ts'
import type { MediaParameters, SrtpParameters } from '../session/media-session.ts'
import { SRTP_SUITES } from '../srtp/srtp-suite.ts'
import { acceptedKeys, answerKeys, cryptoLine, offeredCrypto } from './key-agreement.ts'
import {
  describeLocal,
  type LocalDescriptionState,
  type LocalMedia,
  offeredCodecs,
  refusedMedia,
  type SentDescription,
  telephoneEvent,
} from './local-media.ts'
import { parseSdp } from './parse.ts'
import {
  audioCodecs,
  dtmfPayloadType,
  type OfferedCodec,
  type PeerPath,
  peerPath,
  type Refusal,
  type RefusedAnswer,
  refusal,
  refusedAnswer,
  securityRefusal,
  sendPtimeMs,
  type UsableCrypto,
  usableCrypto,
} from './peer-media.ts'
import { sameKey } from './sdes.ts'
import type { MediaDescription, SessionDescription } from './session-description.ts'

/** An offer without an answer yet. Plain data; contains keys. */
export interface PendingOffer {
  readonly version: number
  readonly sent: string
  readonly description: SessionDescription
  readonly audioIndex: number
  readonly ptimeMs: number
  readonly previous: LocalDescriptionState | null
}

interface CreatedOffer {
  /** The body, application/sdp. */
  readonly offer: Uint8Array
  readonly pending: PendingOffer
}

interface RefusedOffer {
  readonly ok: false
  /** 400: not SDP; 488: nothing in it is acceptable. */
  readonly status: 400 | 488
  /** snake_case, stable. */
  readonly code: string
  readonly warningCode: number
  /** Text for a Warning header (RFC 3261 section 20.43): ASCII without quotes and backslashes. */
  readonly warning: string
  readonly detail: string
}

type PlannedAnswer =
  | {
      readonly ok: true
      readonly answer: Uint8Array
      readonly parameters: MediaParameters
      /** `previous` of the next negotiation, once the answer was sent. */
      readonly state: LocalDescriptionState
      /** One line for logs, without keys. */
      readonly summary: string
    }
  | RefusedOffer

type PreviewedAnswer = { readonly ok: true; readonly parameters: MediaParameters } | RefusedOffer

type AcceptedAnswer =
  | {
      readonly ok: true
      readonly parameters: MediaParameters
      readonly state: LocalDescriptionState
      readonly summary: string
    }
  | RefusedAnswer

/**
 * Creates our offer (RFC 3264 section 5; keys after RFC 4568 section 7.1.1). In an established session it repeats what
 * was agreed, including keys and payload types, and differs only where `local` does: without a difference it is the
 * same byte for byte (a session refresh); `direction` holds and resumes, `renewKeys` re-keys. The number of media lines
 * never shrinks.
 */
export function createOffer(local: LocalMedia): CreatedOffer {
  const agreed = local.previous?.agreed ?? null
  const before = agreed?.description.media[agreed.audioIndex]
  const ptimeMs = local.ptimeMs ?? 20
  const codecs = before?.codecs ?? offeredCodecs(local)
  const crypto = local.security === 'rtp-only' ? [] : offeredCrypto(local, before)
  const audio: MediaDescription = {
    kind: 'audio',
    port: local.port,
    protocol: before?.protocol ?? (local.security === 'rtp-only' ? 'RTP/AVP' : 'RTP/SAVP'),
    formats: codecs.map(codec => String(codec.payloadType)),
    connection: null,
    direction: local.direction ?? 'sendrecv',
    codecs,
    ptimeMs: before?.ptimeMs ?? ptimeMs,
    maxptimeMs: MAX_PACKET_MS,
    crypto,
    hasCrypto: crypto.length > 0,
    rtcpMux: before?.rtcpMux ?? false,
    rtcp: null,
  }
  const audioIndex = agreed?.audioIndex ?? 0
  const media = agreed?.description.media.map((line, i) => (i === audioIndex ? audio : refusedMedia(line))) ?? [audio]
  const sent = describeLocal(local, media, agreed?.description.timing ?? '0 0')
  const { version, description } = sent
  const pending = { version, sent: sent.sent, description, audioIndex, ptimeMs, previous: local.previous ?? null }
  return { offer: sent.bytes, pending }
}

/**
 * The state after an offer was refused or withdrawn: the agreed session is unchanged, but the version number is used.
 */
export function withdrawOffer(pending: PendingOffer): LocalDescriptionState {
  return { version: pending.version, sent: pending.sent, agreed: pending.previous?.agreed ?? null }
}

/** What decides which offered line is accepted. */
type AnswerPolicy = Pick<LocalMedia, 'security' | 'codecs' | 'previous' | 'direction'>

interface AudioChoice {
  readonly index: number
  readonly media: MediaDescription
  readonly path: PeerPath
  readonly codec: OfferedCodec
  readonly crypto: UsableCrypto | null
}

/**
 * Plans our answer to an offer (RFC 3264 section 6): the first acceptable audio line, every other line refused in its
 * place, the offerer's codec order and payload types, and its first supported crypto suite under its tag (RFC 4568
 * section 7.1.2). Pure: the agreement holds once the caller has sent the answer and stored `state`. Throws only for an
 * invalid `local`.
 */
export function planAnswer(local: LocalMedia, offer: Uint8Array): PlannedAnswer {
  const chosen = chooseOffered(local, offer)
  if (!chosen.ok) return chosen
  const { choice, description } = chosen
  const srtp = choice.crypto === null ? null : answerKeys(local, choice.crypto)
  const parameters = answeredParameters(local, choice, srtp)
  const answered = answerMedia(local, choice, srtp, parameters.ptimeMs)
  const media = description.media.map((line, i) => (i === choice.index ? answered : refusedMedia(line)))
  const sent = describeLocal(local, media, description.timing)
  const state = agreedState(sent, choice.index, srtp)
  return { ok: true, answer: sent.bytes, parameters, state, summary: summary(parameters, choice.index, media) }
}

/** What `planAnswer` would agree to, without keys: nothing is written, so no port is needed. */
export function previewAnswer(local: AnswerPolicy, offer: Uint8Array): PreviewedAnswer {
  const chosen = chooseOffered(local, offer)
  return chosen.ok ? { ok: true, parameters: answeredParameters({}, chosen.choice, null) } : chosen
}

function chooseOffered(
  local: AnswerPolicy,
  offer: Uint8Array,
): { readonly ok: true; readonly choice: AudioChoice; readonly description: SessionDescription } | RefusedOffer {
  const parsed = parsedOffer(offer)
  if (!parsed.ok) return refusedOffer(400, refusal(parsed.code, 399, `SDP line ${parsed.line}: ${parsed.detail}`))
  const choice = chooseAudio(local, parsed.description)
  return 'warning' in choice ? refusedOffer(488, choice) : { ok: true, choice, description: parsed.description }
}

/** An offer is previewed and then answered: it is parsed once. */
const PARSED = new WeakMap<Uint8Array, ReturnType<typeof parseSdp>>()

function parsedOffer(offer: Uint8Array): ReturnType<typeof parseSdp> {
  let parsed = PARSED.get(offer)
  if (parsed === undefined) {
    parsed = parseSdp(offer)
    PARSED.set(offer, parsed)
  }
  return parsed
}

function answeredParameters(
  { ptimeMs }: Pick<LocalMedia, 'ptimeMs'>,
  { media, path, codec }: AudioChoice,
  srtp: SrtpParameters | null,
): MediaParameters {
  return {
    ...path,
    codec: codec.name,
    payloadType: codec.payloadType,
    codecFmtp: codec.fmtp,
    ptimeMs: sendPtimeMs(media, ptimeMs ?? 20),
    dtmfPayloadType: dtmfPayloadType(media, codec.clockRate),
    rtcpMux: media.rtcpMux,
    srtp,
  }
}

/**
 * An answer that refuses all offered streams, for an ACK that has to carry one although the call is over (RFC 3261
 * section 13.2.2.4); null when the offer cannot be read.
 */
export function refuseOffer(local: LocalMedia, offer: Uint8Array): Uint8Array | null {
  const parsed = parseSdp(offer)
  if (!parsed.ok) return null
  const { media, timing } = parsed.description
  return describeLocal(local, media.map(refusedMedia), timing).bytes
}

function refusedOffer(status: 400 | 488, { code, warningCode, warning }: Refusal): RefusedOffer {
  // It contains text of the peer, which must not end the quoted string or the header.
  const quotable = warning.replace(/[^ !#-[\]-~]/g, '?')
  return { ok: false, status, code, warningCode, warning: quotable, detail: warning }
}

function chooseAudio(local: AnswerPolicy, description: SessionDescription): AudioChoice | Refusal {
  let first: Refusal | null = null
  for (const [index, media] of description.media.entries()) {
    if (media.kind !== 'audio' || media.port === 0) continue
    const choice = tryAudio(local, description, index, media)
    if (!('warning' in choice)) return choice
    first ??= choice
  }
  return first ?? refusal('no_audio', 304, 'no audio is offered')
}

function tryAudio(
  local: AnswerPolicy,
  description: SessionDescription,
  index: number,
  media: MediaDescription,
): AudioChoice | Refusal {
  const insecure = securityRefusal(media, local.security)
  if (insecure !== null) return insecure
  const codec = audioCodecs(media, local.codecs)[0]
  if (codec === undefined)
    return refusal(
      'no_common_codec',
      305,
      `none of the offered codecs is supported: ${(local.codecs ?? DEFAULT_CODECS).join(', ')}`,
    )
  let crypto: UsableCrypto | null = null
  if (local.security === 'srtp-required') {
    const ours = local.previous?.agreed?.srtp?.send
    // Our own key sent back would protect both directions with one key (RFC 4568 section 5.1.1).
    crypto = usableCrypto(media).find(line => ours === undefined || !sameKey(line.key, ours)) ?? null
    if (crypto === null) {
      return refusal('no_usable_crypto', 305, `no usable a=crypto: offer one of ${SRTP_SUITES.join(', ')}`)
    }
  }
  const path = peerPath(description, media, local.direction ?? 'sendrecv')
  return 'warning' in path ? path : { index, media, path, codec, crypto }
}

function answerMedia(
  local: LocalMedia,
  choice: AudioChoice,
  srtp: SrtpParameters | null,
  ptimeMs: number,
): MediaDescription {
  const { clockRate } = choice.codec
  const dtmf = dtmfPayloadType(choice.media, clockRate)
  const codec = { ...choice.codec, fmtp: codecByName(choice.codec.name).fmtp ?? choice.codec.fmtp }
  const codecs = dtmf === null ? [codec] : [codec, telephoneEvent(dtmf, clockRate)]
  return {
    ...refusedMedia(choice.media),
    port: local.port,
    formats: codecs.map(codec => String(codec.payloadType)),
    direction: choice.path.direction,
    codecs,
    ptimeMs,
    maxptimeMs: MAX_PACKET_MS,
    rtcpMux: choice.media.rtcpMux,
    crypto: srtp === null ? [] : [cryptoLine(choice.crypto!.attribute.tag, srtp.send)],
    hasCrypto: srtp !== null,
  }
}

/**
 * Evaluates the peer's answer to our offer (RFC 3264 section 7; RFC 4568 section 7.1.3). Pure: the same answer may
 * arrive twice, in a provisional and in the final response.
 */
export function acceptAnswer(pending: PendingOffer, answer: Uint8Array): AcceptedAnswer {
  const parsed = parseSdp(answer)
  if (!parsed.ok) return { ok: false, code: parsed.code, detail: `line ${parsed.line}: ${parsed.detail}` }
  const { description } = parsed
  const offered = pending.description.media[pending.audioIndex]!
  const media = description.media[pending.audioIndex]
  // Fewer or more lines than were offered break RFC 3264 section 6, but leave no doubt about the audio.
  if (media === undefined) return refusedAnswer('answer_media_missing', 'the answer has no line for the audio')
  if (media.kind !== 'audio') return refusedAnswer('answer_media_kind', `the answer turns audio into ${media.kind}`)
  if (media.port === 0) return refusedAnswer('answer_media_refused', 'the peer refuses the audio')
  if (media.protocol.toUpperCase() !== offered.protocol.toUpperCase()) {
    return refusedAnswer('answer_transport', `the answer turns ${offered.protocol} into ${media.protocol}`)
  }
  const names = offered.codecs.map(({ name }) => name).filter(isCodecName)
  const codec = audioCodecs(media, names)[0]
  if (codec === undefined) return refusedAnswer('answer_codec', 'the answer has no codec that was offered')
  const path = peerPath(description, media, offered.direction ?? 'sendrecv')
  if ('warning' in path) return refusedAnswer(path.code, path.warning)
  const srtp = offered.hasCrypto ? acceptedKeys(offered, media) : null
  if (srtp !== null && 'ok' in srtp) return srtp
  const ourDtmf = dtmfPayloadType(offered, codec.clockRate)
  const parameters: MediaParameters = {
    ...path,
    codec: codec.name,
    payloadType: codec.payloadType,
    codecFmtp: codec.fmtp,
    receivePayloadType: offered.codecs.find(ours => ours.name === codec.name)!.payloadType,
    ptimeMs: sendPtimeMs(media, pending.ptimeMs),
    dtmfPayloadType: ourDtmf === null ? null : dtmfPayloadType(media, codec.clockRate),
    receiveDtmfPayloadType: ourDtmf,
    rtcpMux: offered.rtcpMux && media.rtcpMux,
    srtp,
  }
  const state = agreedState(pending, pending.audioIndex, srtp)
  return { ok: true, parameters, state, summary: summary(parameters, pending.audioIndex, description.media) }
}

function agreedState(
  sent: Pick<SentDescription, 'version' | 'sent' | 'description'>,
  audioIndex: number,
  srtp: SrtpParameters | null,
): LocalDescriptionState {
  return {
    version: sent.version,
    sent: sent.sent,
    agreed: { description: sent.description, audioIndex, srtp },
  }
}

function summary(parameters: MediaParameters, index: number, media: readonly MediaDescription[]): string {
  const { remote, srtp, dtmfPayloadType: dtmf } = parameters
  const line = media[index]!
  return [
    `audio ${index + 1} of ${media.length}`,
    srtp === null ? line.protocol : `${line.protocol} ${srtp.send.suite}`,
    `${parameters.codec}/${parameters.payloadType}`,
    dtmf === null ? 'no telephone-event' : `telephone-event/${dtmf}`,
    `${parameters.ptimeMs} ms`,
    parameters.direction,
    remote === null ? 'peer without address' : `to ${remote.address}:${remote.port}`,
  ].join(', ')
}
