import type { Random } from '@parley/kernel'
import { type CodecName, codecByName, DEFAULT_CODECS } from '../codec/codecs.ts'
import type { MediaDirection, SrtpParameters } from '../session/media-session.ts'
import { sdpText, serialiseSdp } from './serialise.ts'
import type { MediaDescription, SdpCodec, SessionDescription } from './session-description.ts'

/** Our side of the next offer or answer. Plain values; created for each negotiation. */
export interface LocalMedia {
  /** IPv4 address and port at which the peer reaches us. */
  readonly address: string
  readonly port: number
  /** Decimal digits, chosen once per session (RFC 8866 section 5.2). */
  readonly sessionId: string
  /** In preference; default PCMU, PCMA. An answer follows the offerer's order. */
  readonly codecs?: readonly CodecName[]
  /** Packet time that is offered, and used for a peer that asks for none; default 20. */
  readonly ptimeMs?: number
  /** telephone-event in our offers; default 101. */
  readonly dtmfPayloadType?: number
  /** srtp-required: RTP/SAVP with SDES or nothing. rtp-only: RTP/AVP or nothing. Neither ever becomes the other. */
  readonly security: 'srtp-required' | 'rtp-only'
  /**
   * Whether to offer the AES-GCM suites too, before the others; default false. An answer uses the first suite of the
   * offer that is supported.
   */
  readonly offerAead?: boolean
  /**
   * The direction that we want; an answer is limited to what the offer allows. Default sendrecv; "sendonly" holds the
   * peer.
   */
  readonly direction?: MediaDirection
  /** Source of master keys and salts. */
  readonly random: Random
  /** State after the last negotiation of this session; absent in its first. */
  readonly previous?: LocalDescriptionState
  /** Whether to re-key although nothing else requires it. */
  readonly renewKeys?: boolean
}

/** State of one side of a session between negotiations. Plain data; contains keys. */
export interface LocalDescriptionState {
  /** `o=` version of the last description that was sent, refused ones included. */
  readonly version: number
  /** The last description without its version: the version grows only when this changes (RFC 3264 section 8). */
  readonly sent: string
  /** The agreed session; null before the first agreement. */
  readonly agreed: {
    readonly description: SessionDescription
    /** Index of the media line that is our audio. */
    readonly audioIndex: number
    readonly srtp: SrtpParameters | null
  } | null
}

/** The part of the state that follows from sending a description. */
export interface SentDescription {
  readonly version: number
  readonly sent: string
  readonly description: SessionDescription
  readonly bytes: Uint8Array
}

const DTMF_FMTP = '0-15'

/** Builds our session description with the version that RFC 3264 section 8 asks for. */
export function describeLocal(local: LocalMedia, media: readonly MediaDescription[], timing: string): SentDescription {
  const unversioned: SessionDescription = {
    origin: { username: '-', sessionId: local.sessionId, version: '0', address: local.address },
    sessionName: '-',
    timing,
    connection: local.address,
    direction: null,
    media,
  }
  const sent = sdpText(unversioned)
  const { previous } = local
  const version = previous === undefined ? 1 : previous.sent === sent ? previous.version : previous.version + 1
  const description = { ...unversioned, origin: { ...unversioned.origin, version: String(version) } }
  return { version, sent, description, bytes: serialiseSdp(description) }
}

/** The codecs of our first offer, then telephone-event. */
export function offeredCodecs(local: LocalMedia): SdpCodec[] {
  const audio = (local.codecs ?? DEFAULT_CODECS).map(name => {
    const { payloadType, clockRate, format, channels = format.channels, fmtp = null } = codecByName(name)
    return { payloadType, name, clockRate, channels, fmtp }
  })
  // RFC 4733 section 2.1: an event has the clock rate of the audio that it replaces, so each rate has its own type.
  const clockRates = [...new Set(audio.map(({ clockRate }) => clockRate))].sort((a, b) => a - b)
  return [...audio, ...clockRates.map((rate, i) => telephoneEvent((local.dtmfPayloadType ?? 101) + i, rate))]
}

export function telephoneEvent(payloadType: number, clockRate: number): SdpCodec {
  return { payloadType, name: 'TELEPHONE-EVENT', clockRate, channels: 1, fmtp: DTMF_FMTP }
}

/** The media line that refuses `media`, or keeps a refused one in its place (RFC 3264 sections 6 and 8.2). */
export function refusedMedia(media: MediaDescription): MediaDescription {
  return {
    kind: media.kind,
    port: 0,
    protocol: media.protocol,
    formats: media.formats,
    connection: null,
    direction: null,
    codecs: [],
    ptimeMs: null,
    maxptimeMs: null,
    crypto: [],
    hasCrypto: false,
    rtcpMux: false,
    rtcp: null,
  }
}
