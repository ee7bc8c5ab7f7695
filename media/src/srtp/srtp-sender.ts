import { isRtcp, readUint32, rtpHeaderLength } from '../rtp/rtp-packet.ts'
import type { SrtpKey } from '../session/media-session.ts'
import { guessIndex, rolloverOf } from './rollover.ts'
import { SharedWindow } from './shared-window.ts'
import { SRTCP_CLEAR_BYTES, SRTCP_ENCRYPTED } from './srtcp-layout.ts'
import { SRTP_KEY_EXHAUSTED, SRTP_MALFORMED, SRTP_REPLAYED, SRTP_TOO_MANY_STREAMS } from './srtp-result.ts'
import type { RtcpTransform, RtpTransform, SrtpTransforms } from './srtp-transform.ts'
import { StreamTable } from './stream-table.ts'
import { portableTransforms, rtcpTransform, rtpTransform } from './transform-for-key.ts'

/**
 * Protects sent packets under one master key (RFC 3711), in place. It lives as long as the key: a second one for the
 * same key and SSRC would use keystream twice. After a re-key, `continueFrom` carries the counters on.
 */
export class SrtpSender {
  readonly #rtp: RtpTransform
  readonly #rtcp: RtcpTransform
  readonly #streams = new StreamTable()
  readonly #shared = new SharedWindow()
  #rtcpIndex = 0

  /** Throws `MediaError` "srtp_key_invalid" when key and salt are not as long as the suite wants them. */
  constructor(key: SrtpKey, transforms: SrtpTransforms = portableTransforms) {
    this.#rtp = rtpTransform(key, transforms)
    this.#rtcp = rtcpTransform(key)
  }

  /**
   * Continues the counters of the sender of the previous key: a re-key resets neither the rollover counter (RFC 3711
   * section 3.3.1) nor the SRTCP index (section 3.4). Call it before the first packet.
   */
  continueFrom(previous: SrtpSender): void {
    previous.#streams.forEachRtp((ssrc, highest) => this.#streams.add(ssrc)?.rtp.commit(highest))
    this.#rtcpIndex = previous.#rtcpIndex
  }

  /** Rollover counter of the source whose packet was protected last (RFC 3711 section 3.3.1). */
  get rollover(): number {
    return rolloverOf(this.#streams.last?.rtp.highest ?? -1)
  }

  /** As `SrtpReceiver.share`; null before the first packet of `ssrc`. */
  share(ssrc: number, memory: Float64Array): RtpTransform | null {
    return this.#shared.of(this.#streams.find(ssrc), memory) ? this.#rtp : null
  }

  unshare(): void {
    this.#shared.end()
  }

  /**
   * Encrypts the RTP packet in the first `length` bytes and appends the tag (4, 10 or 16 bytes, for which `packet` has
   * room). Returns the new length, or SRTP_MALFORMED (not RTP, no room), SRTP_REPLAYED (this sequence number was
   * protected before, or is far behind: its keystream is used up), SRTP_TOO_MANY_STREAMS or SRTP_KEY_EXHAUSTED.
   */
  protect(packet: Uint8Array, length: number): number {
    const header = rtpHeaderLength(packet, length)
    if (header < 0 || length + this.#rtp.overhead > packet.length) return SRTP_MALFORMED
    const ssrc = readUint32(packet, 8)
    const stream = this.#streams.find(ssrc) ?? this.#streams.add(ssrc)
    if (stream === null) return SRTP_TOO_MANY_STREAMS
    const index = guessIndex(stream.rtp.highest, (packet[2]! << 8) | packet[3]!)
    if (!stream.rtp.accepts(index)) return SRTP_REPLAYED
    if (index >= 2 ** 48) return SRTP_KEY_EXHAUSTED
    stream.rtp.commit(index)
    return this.#rtp.seal(packet, header, length, ssrc, index)
  }

  /**
   * Encrypts the RTCP compound in the first `length` bytes and appends index and tag (14 or 20 bytes, for which
   * `packet` has room). Returns the new length, or SRTP_MALFORMED or SRTP_KEY_EXHAUSTED.
   */
  protectRtcp(packet: Uint8Array, length: number): number {
    if (!isRtcp(packet, length) || length < SRTCP_CLEAR_BYTES) return SRTP_MALFORMED
    if (length + this.#rtcp.overhead > packet.length) return SRTP_MALFORMED
    if (this.#rtcpIndex >= SRTCP_ENCRYPTED) return SRTP_KEY_EXHAUSTED
    return this.#rtcp.seal(packet, length, readUint32(packet, 4), this.#rtcpIndex++)
  }
}
