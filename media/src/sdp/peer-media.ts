import { type CodecName, codecByName, DEFAULT_CODECS } from '../codec/codecs.ts'
import type { MediaDirection, SrtpKey } from '../session/media-session.ts'
import { reachability } from './connection-address.ts'
import { agreedDirection } from './direction.ts'
import { usableKey } from './sdes.ts'
import type { CryptoAttribute, MediaDescription, SdpCodec, SessionDescription } from './session-description.ts'

/** Reason for refusing a description or a media line. */
export interface Refusal {
  /** snake_case, stable. */
  readonly code: string
  /** RFC 3261 section 20.43. */
  readonly warningCode: 301 | 302 | 304 | 305 | 306 | 399
  /** One line, fit for a Warning header. */
  readonly warning: string
}

export function refusal(code: string, warningCode: Refusal['warningCode'], warning: string): Refusal {
  return { code, warningCode, warning }
}

/** Reason for refusing an answer. */
export interface RefusedAnswer {
  readonly ok: false
  /** snake_case, stable. */
  readonly code: string
  readonly detail: string
}

export function refusedAnswer(code: string, detail: string): RefusedAnswer {
  return { ok: false, code, detail }
}

/** Where and in which direction media flows, after `c=`, port and direction attributes of both levels. */
export interface PeerPath {
  readonly remote: { readonly address: string; readonly port: number } | null
  /** Address of `a=rtcp` (RFC 3605), if there is a usable one. */
  readonly remoteRtcp?: { readonly address: string; readonly port: number } | undefined
  readonly direction: MediaDirection
}

export function peerPath(
  session: SessionDescription,
  media: MediaDescription,
  wanted: MediaDirection,
): PeerPath | Refusal {
  const reach = reachability(media.connection ?? session.connection)
  if (reach.kind === 'unreachable') return refusal('address_unreachable', 301, reach.detail)
  const remote = reach.kind === 'none' ? null : { address: reach.address, port: media.port }
  const peer = media.direction ?? session.direction ?? 'sendrecv'
  return {
    remote,
    remoteRtcp: remote === null ? undefined : rtcpAddress(media, remote.address),
    direction: agreedDirection(wanted, peer, remote !== null),
  }
}

function rtcpAddress({ rtcp }: MediaDescription, rtpAddress: string): PeerPath['remoteRtcp'] {
  if (rtcp === null || rtcp.port === 0) return undefined
  const reach = reachability(rtcp.address ?? rtpAddress)
  return reach.kind === 'unicast' ? { address: reach.address, port: rtcp.port } : undefined
}

/** A line of an SDP description that names one of our codecs. */
export type OfferedCodec = SdpCodec & { readonly name: CodecName }

/**
 * The supported codecs of a media line, in the peer's order. The same name with another clock rate or number of
 * channels is another codec (RFC 3551 section 6).
 */
export function audioCodecs(
  media: MediaDescription,
  wanted: readonly CodecName[] = DEFAULT_CODECS,
): readonly OfferedCodec[] {
  return media.codecs.filter((codec): codec is OfferedCodec =>
    wanted
      .map(codecByName)
      .some(
        ({ name, clockRate, format, channels = format.channels }) =>
          name === codec.name && clockRate === codec.clockRate && channels === codec.channels,
      ),
  )
}

/** telephone-event at the audio codec's clock (RFC 4733 section 2.5.1.1), or null. */
export function dtmfPayloadType(media: MediaDescription, clockRate: number): number | null {
  const event = media.codecs.find(codec => codec.name === 'TELEPHONE-EVENT' && codec.clockRate === clockRate)
  return event?.payloadType ?? null
}

/** Packet time towards a peer with this `ptime` and `maxptime`: 10 to 60 ms in steps of 10 (RFC 8866 section 6.4). */
export function sendPtimeMs(media: MediaDescription, ours: number): number {
  const wanted = Math.min(media.ptimeMs ?? ours, media.maxptimeMs ?? 60)
  return Math.min(60, Math.max(10, Math.floor(wanted / 10) * 10))
}

export interface UsableCrypto {
  readonly attribute: CryptoAttribute
  readonly key: SrtpKey
}

/** The usable crypto lines, in the peer's order of preference. */
export function usableCrypto(media: MediaDescription): UsableCrypto[] {
  const usable: UsableCrypto[] = []
  for (const attribute of media.crypto) {
    const key = usableKey(attribute)
    if (key !== null) usable.push({ attribute, key })
  }
  return usable
}

const PLAIN = new Set(['RTP/AVP', 'RTP/AVPF'])
const SECURE = new Set(['RTP/SAVP', 'RTP/SAVPF'])

/**
 * Why a media line's transport does not match our security; null when it does. The AVPF profiles are answered with the
 * same profile: they change RTCP timing only (RFC 4585), and no feedback is negotiated.
 */
export function securityRefusal(media: MediaDescription, security: 'srtp-required' | 'rtp-only'): Refusal | null {
  const protocol = media.protocol.toUpperCase()
  if (PLAIN.has(protocol)) {
    // Optional encryption (RFC 8643): a trunk for plain RTP answers without keys, which makes the call plain RTP.
    if (security === 'rtp-only') return null
    return media.hasCrypto
      ? refusal(
          'crypto_on_plain_rtp',
          305,
          'SRTP is required: a=crypto needs RTP/SAVP, encryption is not optional here',
        )
      : refusal('srtp_required', 305, 'SRTP is required: offer RTP/SAVP with a=crypto')
  }
  if (SECURE.has(protocol)) {
    return security === 'srtp-required' ? null : refusal('srtp_not_configured', 305, 'only RTP/AVP is accepted here')
  }
  return refusal('transport_not_supported', 302, `transport ${media.protocol} is not supported`)
}
