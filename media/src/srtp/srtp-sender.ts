import { isRtcp, readUint32, rtpHeaderLength, writeUint32 } from '../rtp/rtp-packet.ts'
import type { SrtpKey } from '../session/media-session.ts'
import { deriveRtcpKeys, deriveRtpKeys } from './key-derivation.ts'
import { guessIndex, rolloverOf } from './rollover.ts'
import { SRTP_KEY_EXHAUSTED, SRTP_MALFORMED, SRTP_REPLAYED, SRTP_TOO_MANY_STREAMS } from './srtp-result.ts'
import { SRTCP_CLEAR_BYTES, SRTCP_INDEX_BYTES, SRTCP_TAG_BYTES, SrtpTransform, srtpTagBytes } from './srtp-transform.ts'
import { StreamTable } from './stream-table.ts'

const ENCRYPTED_FLAG = 0x80000000

/**
 * Protects what we send under one master key (RFC 3711), in place. It lives as long as the key: a new one for the same
 * key and SSRC would begin its rollover counter anew and use keystream twice.
 */
export class SrtpSender {
  readonly #rtp: SrtpTransform
  readonly #rtcp: SrtpTransform
  readonly #streams = new StreamTable()
  #rollover = 0
  #rtcpIndex = 0

  /** Throws `ParleyError` "srtp_key_invalid" when key and salt are not 30 bytes. */
  constructor(key: SrtpKey) {
    this.#rtp = new SrtpTransform(deriveRtpKeys(key), srtpTagBytes(key.suite))
    this.#rtcp = new SrtpTransform(deriveRtcpKeys(key), SRTCP_TAG_BYTES)
  }

  /** Rollover counter of the packet protected last (RFC 3711 section 3.3.1). */
  get rollover(): number {
    return this.#rollover
  }

  /**
   * Encrypts the RTP packet in the first `length` bytes and appends the tag (10 or 4 bytes, for which `packet` has
   * room). Returns the new length, or SRTP_MALFORMED (not RTP, no room), SRTP_REPLAYED (this sequence number was
   * protected before, or is far behind: its keystream is used up), SRTP_TOO_MANY_STREAMS or SRTP_KEY_EXHAUSTED.
   */
  protect(packet: Uint8Array, length: number): number {
    const { tagBytes, cipher } = this.#rtp
    const header = rtpHeaderLength(packet, length)
    if (header < 0 || length + tagBytes > packet.length) return SRTP_MALFORMED
    const ssrc = readUint32(packet, 8)
    const stream = this.#streams.find(ssrc) ?? this.#streams.add(ssrc)
    if (stream === null) return SRTP_TOO_MANY_STREAMS
    const index = guessIndex(stream.rtp.highest, (packet[2]! << 8) | packet[3]!)
    if (!stream.rtp.accepts(index)) return SRTP_REPLAYED
    if (index >= 2 ** 48) return SRTP_KEY_EXHAUSTED
    stream.rtp.commit(index)
    this.#rollover = rolloverOf(index)
    cipher.apply(packet, header, length, ssrc, index)
    // The tag covers the rollover counter, which is not sent: it stands where the tag goes, until then.
    writeUint32(packet, length, this.#rollover)
    this.#rtp.writeTag(packet, length + 4, length)
    return length + tagBytes
  }

  /**
   * Encrypts the RTCP compound in the first `length` bytes and appends index and tag (14 bytes, for which `packet` has
   * room). Returns the new length, or SRTP_MALFORMED or SRTP_KEY_EXHAUSTED.
   */
  protectRtcp(packet: Uint8Array, length: number): number {
    const tagAt = length + SRTCP_INDEX_BYTES
    if (!isRtcp(packet, length) || length < SRTCP_CLEAR_BYTES) return SRTP_MALFORMED
    if (tagAt + SRTCP_TAG_BYTES > packet.length) return SRTP_MALFORMED
    if (this.#rtcpIndex >= ENCRYPTED_FLAG) return SRTP_KEY_EXHAUSTED
    const index = this.#rtcpIndex++
    this.#rtcp.cipher.apply(packet, SRTCP_CLEAR_BYTES, length, readUint32(packet, 4), index)
    writeUint32(packet, length, ENCRYPTED_FLAG + index)
    this.#rtcp.writeTag(packet, tagAt, tagAt)
    return tagAt + SRTCP_TAG_BYTES
  }
}
