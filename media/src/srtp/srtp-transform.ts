import type { SrtpSuite } from '../session/media-session.ts'
import { AesCounterMode } from './aes-counter-mode.ts'
import { HmacSha1 } from './hmac-sha1.ts'
import type { SessionKeys } from './key-derivation.ts'

/** SRTCP carries the long tag under both suites (RFC 4568 section 6.2). */
export const SRTCP_TAG_BYTES = 10

/** RTCP's own header of 8 bytes stays in clear. */
export const SRTCP_CLEAR_BYTES = 8

/** E flag and SRTCP index (RFC 3711 section 3.4). */
export const SRTCP_INDEX_BYTES = 4

export function srtpTagBytes(suite: SrtpSuite): number {
  return suite === 'AES_CM_128_HMAC_SHA1_32' ? 4 : 10
}

/** Encryption and authentication under one set of session keys (RFC 3711 section 4). */
export class SrtpTransform {
  readonly tagBytes: number
  readonly cipher: AesCounterMode
  readonly #hmac: HmacSha1

  constructor(keys: SessionKeys, tagBytes: number) {
    this.tagBytes = tagBytes
    this.cipher = new AesCounterMode(keys.encryption, keys.salt)
    this.#hmac = new HmacSha1(keys.authentication)
  }

  /** Writes the tag of the first `authenticated` bytes of `packet` to `tagAt`. */
  writeTag(packet: Uint8Array, authenticated: number, tagAt: number): void {
    this.#hmac.compute(packet, authenticated)
    const digest = this.#hmac.digest
    for (let i = 0; i < this.tagBytes; i++) packet[tagAt + i] = digest[i]!
  }

  /** Compares in a time that does not tell how many bytes were right. */
  verifies(packet: Uint8Array, authenticated: number, tag: Uint8Array): boolean {
    this.#hmac.compute(packet, authenticated)
    const digest = this.#hmac.digest
    let difference = 0
    for (let i = 0; i < this.tagBytes; i++) difference |= digest[i]! ^ tag[i]!
    return difference === 0
  }
}
