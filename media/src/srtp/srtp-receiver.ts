import { isRtcpCompound } from '../rtp/rtcp.ts'
import { isRtcp, readUint32, rtpHeaderLength } from '../rtp/rtp-packet.ts'
import type { SrtpKey } from '../session/media-session.ts'
import { guessIndex, rolloverOf } from './rollover.ts'
import { SRTCP_CLEAR_BYTES, SRTCP_ENCRYPTED } from './srtcp-layout.ts'
import {
  SRTP_CLEAR_RTCP,
  SRTP_MALFORMED,
  SRTP_REPLAYED,
  SRTP_TOO_MANY_STREAMS,
  SRTP_UNAUTHENTICATED,
} from './srtp-result.ts'
import type { RtcpTransform, RtpTransform } from './srtp-transform.ts'
import { StreamTable } from './stream-table.ts'
import { rtcpTransform, rtpTransform } from './transform-for-key.ts'

const SECOND_CYCLE = 0x10000

/**
 * Verifies and decrypts packets under one master key (RFC 3711 section 3.3), in place. The replay check comes first
 * because it is cheap, then authentication; only then is anything decrypted or stored, so a forged packet changes no
 * state and its SSRC occupies no entry. It lives as long as the key, through hold and re-INVITE.
 */
export class SrtpReceiver {
  readonly #rtp: RtpTransform
  readonly #rtcp: RtcpTransform
  readonly #streams = new StreamTable()
  #rollover = 0

  /** Throws `MediaError` "srtp_key_invalid" when key and salt are not as long as the suite wants them. */
  constructor(key: SrtpKey) {
    this.#rtp = rtpTransform(key)
    this.#rtcp = rtcpTransform(key)
  }

  /** Sources that have sent at least one authentic packet. */
  get streams(): number {
    return this.#streams.size
  }

  /** Rollover counter of the last accepted packet. */
  get rollover(): number {
    return this.#rollover
  }

  /**
   * Decrypts the SRTP packet in the first `length` bytes. Returns the length of the RTP packet that then stands there,
   * or a value below 0, the packet then being unchanged: SRTP_MALFORMED, SRTP_REPLAYED, SRTP_UNAUTHENTICATED,
   * SRTP_TOO_MANY_STREAMS.
   */
  unprotect(packet: Uint8Array, length: number): number {
    const header = rtpHeaderLength(packet, length - this.#rtp.overhead)
    if (header < 0 || length > packet.length) return SRTP_MALFORMED
    const sequence = (packet[2]! << 8) | packet[3]!
    const ssrc = readUint32(packet, 8)
    const known = this.#streams.find(ssrc)
    const highest = known === null ? -1 : known.rtp.highest
    let index = guessIndex(highest, sequence)
    if (known !== null && !known.rtp.accepts(index)) return SRTP_REPLAYED
    if (!this.#rtp.authentic(packet, header, length, ssrc, index)) {
      // A source that began near 65535 may have wrapped before its first packet reached us.
      if (highest >= 0 || sequence >= SECOND_CYCLE / 2) return SRTP_UNAUTHENTICATED
      index += SECOND_CYCLE
      if (!this.#rtp.authentic(packet, header, length, ssrc, index)) return SRTP_UNAUTHENTICATED
    }
    const stream = known ?? this.#streams.add(ssrc)
    if (stream === null) return SRTP_TOO_MANY_STREAMS
    stream.rtp.commit(index)
    this.#rollover = rolloverOf(index)
    return this.#rtp.open(packet, header, length, ssrc, index)
  }

  /**
   * Decrypts the SRTCP packet in the first `length` bytes; results as of `unprotect`, with a replay window of its own.
   * Also SRTP_CLEAR_RTCP when the refused packet is a well-formed compound in clear.
   */
  unprotectRtcp(packet: Uint8Array, length: number): number {
    const result = this.#unprotectRtcp(packet, length)
    return result < 0 && isRtcpCompound(packet, length) ? SRTP_CLEAR_RTCP : result
  }

  #unprotectRtcp(packet: Uint8Array, length: number): number {
    if (length - this.#rtcp.overhead < SRTCP_CLEAR_BYTES || !isRtcp(packet, length)) return SRTP_MALFORMED
    const ssrc = readUint32(packet, 4)
    const flagAndIndex = readUint32(packet, this.#rtcp.indexAt(length))
    const encrypted = flagAndIndex >= SRTCP_ENCRYPTED
    const index = encrypted ? flagAndIndex - SRTCP_ENCRYPTED : flagAndIndex
    const known = this.#streams.find(ssrc)
    if (known !== null && !known.rtcp.accepts(index)) return SRTP_REPLAYED
    if (!this.#rtcp.authentic(packet, length, ssrc, encrypted, index)) return SRTP_UNAUTHENTICATED
    const stream = known ?? this.#streams.add(ssrc)
    if (stream === null) return SRTP_TOO_MANY_STREAMS
    stream.rtcp.commit(index)
    return this.#rtcp.open(packet, length, ssrc, encrypted, index)
  }
}
