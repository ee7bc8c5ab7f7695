import { isRtcpCompound } from '../rtp/rtcp.ts'
import { isRtcp, readUint32, rtpHeaderLength, writeUint32 } from '../rtp/rtp-packet.ts'
import type { SrtpKey } from '../session/media-session.ts'
import { deriveRtcpKeys, deriveRtpKeys } from './key-derivation.ts'
import { guessIndex, rolloverOf } from './rollover.ts'
import {
  SRTP_CLEAR_RTCP,
  SRTP_MALFORMED,
  SRTP_REPLAYED,
  SRTP_TOO_MANY_STREAMS,
  SRTP_UNAUTHENTICATED,
} from './srtp-result.ts'
import { SRTCP_CLEAR_BYTES, SRTCP_INDEX_BYTES, SRTCP_TAG_BYTES, SrtpTransform, srtpTagBytes } from './srtp-transform.ts'
import { StreamTable } from './stream-table.ts'

const SECOND_CYCLE = 0x10000

/**
 * Verifies and decrypts what arrives under one master key (RFC 3711 section 3.3), in place. The replay check comes
 * first because it is cheap, then authentication, and only then is anything decrypted or remembered: a forged packet
 * leaves no trace, not even room for its SSRC. It lives as long as the key, through hold and re-INVITE.
 */
export class SrtpReceiver {
  readonly #rtp: SrtpTransform
  readonly #rtcp: SrtpTransform
  readonly #streams = new StreamTable()
  readonly #tag = new Uint8Array(SRTCP_TAG_BYTES)
  #rollover = 0

  /** Throws `ParleyError` "srtp_key_invalid" when key and salt are not 30 bytes. */
  constructor(key: SrtpKey) {
    this.#rtp = new SrtpTransform(deriveRtpKeys(key), srtpTagBytes(key.suite))
    this.#rtcp = new SrtpTransform(deriveRtcpKeys(key), SRTCP_TAG_BYTES)
  }

  /** Sources that have sent at least one authentic packet. */
  get streams(): number {
    return this.#streams.size
  }

  /** Rollover counter of the packet taken last. */
  get rollover(): number {
    return this.#rollover
  }

  /**
   * Takes the SRTP packet in the first `length` bytes. Returns the length of the RTP packet that now stands there, or
   * below 0, the packet then being as it was: SRTP_MALFORMED, SRTP_REPLAYED, SRTP_UNAUTHENTICATED, SRTP_TOO_MANY_STREAMS.
   */
  unprotect(packet: Uint8Array, length: number): number {
    const tagAt = length - this.#rtp.tagBytes
    const header = rtpHeaderLength(packet, tagAt)
    if (header < 0 || length > packet.length) return SRTP_MALFORMED
    const sequence = (packet[2]! << 8) | packet[3]!
    const ssrc = readUint32(packet, 8)
    const known = this.#streams.find(ssrc)
    const highest = known === null ? -1 : known.rtp.highest
    let index = guessIndex(highest, sequence)
    if (known !== null && !known.rtp.accepts(index)) return SRTP_REPLAYED
    if (!this.#authentic(packet, tagAt, index)) {
      // A source that began near 65535 may have wrapped before its first packet reached us.
      if (highest >= 0 || sequence >= SECOND_CYCLE / 2) return SRTP_UNAUTHENTICATED
      index += SECOND_CYCLE
      if (!this.#authentic(packet, tagAt, index)) return SRTP_UNAUTHENTICATED
    }
    const stream = known ?? this.#streams.add(ssrc)
    if (stream === null) return SRTP_TOO_MANY_STREAMS
    stream.rtp.commit(index)
    this.#rollover = rolloverOf(index)
    this.#rtp.cipher.apply(packet, header, tagAt, ssrc, index)
    return tagAt
  }

  /**
   * Takes the SRTCP packet in the first `length` bytes; results as of `unprotect`, with a window of its own. Also
   * SRTP_CLEAR_RTCP when what was refused is a well-formed compound in clear.
   */
  unprotectRtcp(packet: Uint8Array, length: number): number {
    const result = this.#unprotectRtcp(packet, length)
    return result < 0 && isRtcpCompound(packet, length) ? SRTP_CLEAR_RTCP : result
  }

  #unprotectRtcp(packet: Uint8Array, length: number): number {
    const tagAt = length - SRTCP_TAG_BYTES
    const end = tagAt - SRTCP_INDEX_BYTES
    if (end < SRTCP_CLEAR_BYTES || !isRtcp(packet, length)) return SRTP_MALFORMED
    const ssrc = readUint32(packet, 4)
    const flagAndIndex = readUint32(packet, end)
    const index = flagAndIndex & 0x7fffffff
    const known = this.#streams.find(ssrc)
    if (known !== null && !known.rtcp.accepts(index)) return SRTP_REPLAYED
    this.#takeTag(packet, tagAt, SRTCP_TAG_BYTES)
    if (!this.#rtcp.verifies(packet, tagAt, this.#tag)) return SRTP_UNAUTHENTICATED
    const stream = known ?? this.#streams.add(ssrc)
    if (stream === null) return SRTP_TOO_MANY_STREAMS
    stream.rtcp.commit(index)
    if (flagAndIndex > 0x7fffffff) this.#rtcp.cipher.apply(packet, SRTCP_CLEAR_BYTES, end, ssrc, index)
    return end
  }

  /** The tag covers the rollover counter, which is not sent: it stands in for the tag while the hash is computed. */
  #authentic(packet: Uint8Array, tagAt: number, index: number): boolean {
    const { tagBytes } = this.#rtp
    this.#takeTag(packet, tagAt, tagBytes)
    writeUint32(packet, tagAt, rolloverOf(index))
    const authentic = this.#rtp.verifies(packet, tagAt + 4, this.#tag)
    for (let i = 0; i < tagBytes; i++) packet[tagAt + i] = this.#tag[i]!
    return authentic
  }

  #takeTag(packet: Uint8Array, tagAt: number, tagBytes: number): void {
    for (let i = 0; i < tagBytes; i++) this.#tag[i] = packet[tagAt + i]!
  }
}
