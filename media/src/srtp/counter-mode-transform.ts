import { writeUint32 } from '../rtp/rtp-packet.ts'
import { AesCounterMode } from './aes-counter-mode.ts'
import { HmacSha1 } from './hmac-sha1.ts'
import type { SessionKeys } from './key-derivation.ts'
import { rolloverOf } from './rollover.ts'
import { SRTCP_CLEAR_BYTES, SRTCP_ENCRYPTED, SRTCP_INDEX_BYTES, SRTCP_TAG_BYTES } from './srtcp-layout.ts'
import type { RtcpTransform, RtpTransform } from './srtp-transform.ts'

const ROLLOVER_BYTES = 4

/** AES in counter mode with HMAC-SHA1 for RTP (RFC 3711 section 4). */
export class CounterModeRtp implements RtpTransform {
  readonly overhead: number
  readonly #cipher: AesCounterMode
  readonly #tagger: Tagger

  constructor(keys: SessionKeys, tagBytes: number) {
    this.overhead = tagBytes
    this.#cipher = new AesCounterMode(keys.encryption, keys.salt)
    this.#tagger = new Tagger(keys.authentication, tagBytes)
  }

  seal(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): number {
    this.#cipher.apply(packet, header, length, ssrc, index)
    // The tag covers the rollover counter, which is not sent: until the tag is written, it is in the tag's place.
    writeUint32(packet, length, rolloverOf(index))
    this.#tagger.write(packet, length + ROLLOVER_BYTES, length)
    return length + this.overhead
  }

  /** Puts the rollover counter in place of the tag while the hash is computed. */
  authentic(packet: Uint8Array, _header: number, length: number, _ssrc: number, index: number): boolean {
    const tagAt = length - this.overhead
    this.#tagger.take(packet, tagAt)
    writeUint32(packet, tagAt, rolloverOf(index))
    const authentic = this.#tagger.verifies(packet, tagAt + ROLLOVER_BYTES)
    this.#tagger.putBack(packet, tagAt)
    return authentic
  }

  open(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): number {
    const end = length - this.overhead
    this.#cipher.apply(packet, header, end, ssrc, index)
    return end
  }
}

/** AES in counter mode with HMAC-SHA1 for RTCP: flag and index, then the tag (RFC 3711 section 3.4). */
export class CounterModeRtcp implements RtcpTransform {
  readonly overhead = SRTCP_INDEX_BYTES + SRTCP_TAG_BYTES
  readonly #cipher: AesCounterMode
  readonly #tagger: Tagger

  constructor(keys: SessionKeys) {
    // A packet comes every five seconds: to have the next ones' keystream would gain nothing.
    this.#cipher = new AesCounterMode(keys.encryption, keys.salt, false)
    this.#tagger = new Tagger(keys.authentication, SRTCP_TAG_BYTES)
  }

  indexAt(length: number): number {
    return length - this.overhead
  }

  seal(packet: Uint8Array, length: number, ssrc: number, index: number): number {
    const tagAt = length + SRTCP_INDEX_BYTES
    this.#cipher.apply(packet, SRTCP_CLEAR_BYTES, length, ssrc, index)
    writeUint32(packet, length, SRTCP_ENCRYPTED + index)
    this.#tagger.write(packet, tagAt, tagAt)
    return length + this.overhead
  }

  authentic(packet: Uint8Array, length: number): boolean {
    const tagAt = length - SRTCP_TAG_BYTES
    this.#tagger.take(packet, tagAt)
    return this.#tagger.verifies(packet, tagAt)
  }

  open(packet: Uint8Array, length: number, ssrc: number, encrypted: boolean, index: number): number {
    const end = this.indexAt(length)
    if (encrypted) this.#cipher.apply(packet, SRTCP_CLEAR_BYTES, end, ssrc, index)
    return end
  }
}

/** The tag of the packet that is being verified, of all taggers of the thread: it is used within one verification. */
const takenTag = new Uint8Array(SRTCP_TAG_BYTES)

/** Writes and compares truncated HMAC-SHA1 tags, of at most 10 bytes. */
class Tagger {
  readonly #hmac: HmacSha1
  readonly #tagBytes: number

  constructor(key: Uint8Array, tagBytes: number) {
    this.#hmac = new HmacSha1(key)
    this.#tagBytes = tagBytes
  }

  /** Writes the tag of the first `authenticated` bytes of `packet` to `tagAt`. */
  write(packet: Uint8Array, authenticated: number, tagAt: number): void {
    this.#hmac.compute(packet, authenticated)
    const digest = this.#hmac.digest
    for (let i = 0; i < this.#tagBytes; i++) packet[tagAt + i] = digest[i]!
  }

  /** Remembers the packet's tag for `verifies` and `putBack`. */
  take(packet: Uint8Array, tagAt: number): void {
    for (let i = 0; i < this.#tagBytes; i++) takenTag[i] = packet[tagAt + i]!
  }

  putBack(packet: Uint8Array, tagAt: number): void {
    for (let i = 0; i < this.#tagBytes; i++) packet[tagAt + i] = takenTag[i]!
  }

  /** Compares in constant time, so that the time does not reveal how many bytes were right. */
  verifies(packet: Uint8Array, authenticated: number): boolean {
    this.#hmac.compute(packet, authenticated)
    const digest = this.#hmac.digest
    let difference = 0
    for (let i = 0; i < this.#tagBytes; i++) difference |= digest[i]! ^ takenTag[i]!
    return difference === 0
  }
}
