import type { Seq16 } from '@parley/kernel'
import { isRtcpCompound } from '../rtp/rtcp.ts'
import { isRtcp, readUint32, rtpHeaderLength } from '../rtp/rtp-packet.ts'
import type { SrtpKey } from '../session/media-session.ts'
import { MasterKeyIdentifier } from './master-key-identifier.ts'
import { guessIndex, rolloverOf } from './rollover.ts'
import { SharedWindow } from './shared-window.ts'
import { SRTCP_CLEAR_BYTES, SRTCP_ENCRYPTED, SRTCP_TAG_BYTES } from './srtcp-layout.ts'
import {
  SRTP_CLEAR_RTCP,
  SRTP_MALFORMED,
  SRTP_REPLAYED,
  SRTP_TOO_MANY_STREAMS,
  SRTP_UNAUTHENTICATED,
} from './srtp-result.ts'
import { srtpSuiteSizes } from './srtp-suite.ts'
import type { RtcpTransform, RtpTransform, SrtpTransforms } from './srtp-transform.ts'
import { MAX_STREAMS, StreamTable } from './stream-table.ts'
import { portableTransforms, rtcpTransform, rtpTransform } from './transform-for-key.ts'

const SECOND_CYCLE = 0x10000
/** Refused as a packet index: counters begin at 0. */
const NONE = -1

/**
 * Verifies and decrypts packets under one master key (RFC 3711 section 3.3), in place. The replay check comes first
 * because it is cheap, then authentication; only then is anything decrypted or stored, so a forged packet changes no
 * state and its SSRC occupies no entry. It lives as long as the key, through hold and re-INVITE.
 *
 * After a re-key a source carries its rollover counter on (section 3.3.1), but some senders restart it. So the first
 * packet of each source under the new key is tried with the counter of the previous key, then with 0 and 1; the one that
 * authenticates holds from then on.
 */
export class SrtpReceiver {
  readonly #rtp: RtpTransform
  readonly #rtcp: RtcpTransform
  readonly #streams = new StreamTable()
  /** Highest packet index of each source under the previous keys. */
  readonly #before = new Map<number, number>()
  readonly #mki: MasterKeyIdentifier | null
  readonly #rtpTrailer: number
  readonly #rtcpTrailer: number
  readonly #shared = new SharedWindow()

  /**
   * `previous`: the receiver of the key before a re-key. Throws `MediaError` "srtp_key_invalid" when key and salt are not
   * as long as the suite wants them.
   */
  constructor(key: SrtpKey, previous: SrtpReceiver | null = null, transforms: SrtpTransforms = portableTransforms) {
    this.#rtp = rtpTransform(key, transforms)
    this.#rtcp = rtcpTransform(key)
    this.#mki = key.mki === undefined ? null : new MasterKeyIdentifier(key.mki)
    const { aead, tag } = srtpSuiteSizes(key.suite)
    this.#rtpTrailer = aead ? 0 : tag
    this.#rtcpTrailer = aead ? 0 : SRTCP_TAG_BYTES
    if (previous !== null) this.#rememberCounters(previous)
  }

  #rememberCounters(previous: SrtpReceiver): void {
    previous.#streams.forEachRtp((ssrc, highest) => this.#before.set(ssrc, highest))
    for (const [ssrc, highest] of previous.#before) {
      if (this.#before.size < MAX_STREAMS && !this.#before.has(ssrc)) this.#before.set(ssrc, highest)
    }
  }

  /** Sources that have sent at least one authentic packet. */
  get streams(): number {
    return this.#streams.size
  }

  /** Rollover counter of the source whose packet was accepted last. */
  get rollover(): number {
    return rolloverOf(this.#streams.last?.rtp.highest ?? -1)
  }

  /**
   * Continues the replay window of RTP of a source in `memory`, where the native path uses it too; returns the transform of its
   * packets. null: a source that was not heard, or a key with an identifier.
   */
  share(ssrc: number, memory: Float64Array): RtpTransform | null {
    return this.#mki === null && this.#shared.of(this.#streams.find(ssrc), memory) ? this.#rtp : null
  }

  /** Continues the shared replay window in memory of its own. */
  unshare(): void {
    this.#shared.end()
  }

  /**
   * Decrypts the SRTP packet in the first `length` bytes. Returns the length of the RTP packet that then stands there,
   * or a value below 0, the packet then being unchanged: SRTP_MALFORMED, SRTP_REPLAYED, SRTP_UNAUTHENTICATED,
   * SRTP_TOO_MANY_STREAMS.
   */
  unprotect(packet: Uint8Array, length: number): number {
    return this.#unprotectIdentified(packet, length, false)
  }

  #unprotectRtp(packet: Uint8Array, length: number): number {
    const header = rtpHeaderLength(packet, length - this.#rtp.overhead)
    if (header < 0 || length > packet.length) return SRTP_MALFORMED
    const sequence = (packet[2]! << 8) | packet[3]!
    const ssrc = readUint32(packet, 8)
    const known = this.#streams.find(ssrc)
    let index: number
    if (known === null || known.rtp.highest < 0) {
      index = this.#firstIndex(packet, header, length, ssrc, sequence)
      if (index === NONE) return SRTP_UNAUTHENTICATED
    } else {
      index = guessIndex(known.rtp.highest, sequence)
      if (!known.rtp.accepts(index)) return SRTP_REPLAYED
      if (!this.#rtp.authentic(packet, header, length, ssrc, index)) return SRTP_UNAUTHENTICATED
    }
    const stream = known ?? this.#streams.add(ssrc)
    if (stream === null) return SRTP_TOO_MANY_STREAMS
    stream.rtp.commit(index)
    return this.#rtp.open(packet, header, length, ssrc, index)
  }

  /** The index under which a source's first packet is authentic, or NONE. */
  #firstIndex(packet: Uint8Array, header: number, length: number, ssrc: number, sequence: Seq16): number {
    const before = this.#before.get(ssrc)
    if (before !== undefined) {
      const index = guessIndex(before, sequence)
      if (index > sequence && this.#rtp.authentic(packet, header, length, ssrc, index)) return index
    }
    if (this.#rtp.authentic(packet, header, length, ssrc, sequence)) return sequence
    // A source that began near 65535 may have wrapped before its first packet reached us.
    if (before === undefined && sequence >= SECOND_CYCLE / 2) return NONE
    const wrapped = sequence + SECOND_CYCLE
    return this.#rtp.authentic(packet, header, length, ssrc, wrapped) ? wrapped : NONE
  }

  /**
   * Decrypts the SRTCP packet in the first `length` bytes; results as of `unprotect`, with a replay window of its own.
   * Also SRTP_CLEAR_RTCP when the refused packet is a well-formed compound in clear.
   */
  unprotectRtcp(packet: Uint8Array, length: number): number {
    const result = this.#unprotectIdentified(packet, length, true)
    return result < 0 && isRtcpCompound(packet, length) ? SRTP_CLEAR_RTCP : result
  }

  /** `#unprotectBare` without the master key identifier, if there is one. */
  #unprotectIdentified(packet: Uint8Array, length: number, isRtcp: boolean): number {
    const mki = this.#mki
    if (mki === null) return this.#unprotectBare(packet, length, isRtcp)
    const trailer = isRtcp ? this.#rtcpTrailer : this.#rtpTrailer
    const bare = mki.remove(packet, length, trailer)
    const result = this.#unprotectBare(packet, bare, isRtcp)
    if (result > 0 || bare === length) return result
    mki.restore(packet, length, trailer)
    // A peer may announce an identifier and leave it out; then the encrypted payload only looked like it.
    return result === SRTP_UNAUTHENTICATED ? this.#unprotectBare(packet, length, isRtcp) : result
  }

  #unprotectBare(packet: Uint8Array, length: number, isRtcp: boolean): number {
    return isRtcp ? this.#unprotectRtcp(packet, length) : this.#unprotectRtp(packet, length)
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
