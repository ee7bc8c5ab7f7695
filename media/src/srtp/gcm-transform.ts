import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { readUint32, writeUint32 } from '../rtp/rtp-packet.ts'
import type { SessionKeys } from './key-derivation.ts'
import { SRTCP_CLEAR_BYTES, SRTCP_ENCRYPTED, SRTCP_INDEX_BYTES } from './srtcp-layout.ts'
import type { RtcpTransform, RtpTransform } from './srtp-transform.ts'

const GCM_TAG_BYTES = 16
const IV_BYTES = 12
const NOTHING = new Uint8Array(0)

/**
 * AES-GCM for RTP (RFC 7714 section 8): the header is authenticated, the payload encrypted, the tag follows it. Node has
 * no GCM whose IV can be changed, so a cipher is made for each packet.
 */
export class GcmRtp implements RtpTransform {
  readonly overhead = GCM_TAG_BYTES
  readonly #gcm: Gcm

  constructor(keys: SessionKeys) {
    this.#gcm = new Gcm(keys)
  }

  seal(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): number {
    this.#gcm.setIv(ssrc, index)
    this.#gcm.seal(packet.subarray(0, header), NOTHING, packet, header, length)
    return length + GCM_TAG_BYTES
  }

  authentic(packet: Uint8Array, header: number, length: number, ssrc: number, index: number): boolean {
    this.#gcm.setIv(ssrc, index)
    return this.#gcm.opens(packet.subarray(0, header), NOTHING, packet, header, length)
  }

  open(packet: Uint8Array, header: number, length: number): number {
    packet.set(this.#gcm.plaintext, header)
    return length - GCM_TAG_BYTES
  }
}

/**
 * AES-GCM for RTCP (RFC 7714 section 9): the tag precedes flag and index, which are authenticated after the header.
 * Everything that is not encrypted is authenticated.
 */
export class GcmRtcp implements RtcpTransform {
  readonly overhead = GCM_TAG_BYTES + SRTCP_INDEX_BYTES
  readonly #gcm: Gcm

  constructor(keys: SessionKeys) {
    this.#gcm = new Gcm(keys)
  }

  indexAt(length: number): number {
    return length - SRTCP_INDEX_BYTES
  }

  seal(packet: Uint8Array, length: number, ssrc: number, index: number): number {
    const indexAt = length + GCM_TAG_BYTES
    writeUint32(packet, indexAt, SRTCP_ENCRYPTED + index)
    this.#gcm.setIv(ssrc, index)
    const clear = packet.subarray(0, SRTCP_CLEAR_BYTES)
    this.#gcm.seal(clear, packet.subarray(indexAt, indexAt + SRTCP_INDEX_BYTES), packet, SRTCP_CLEAR_BYTES, length)
    return length + this.overhead
  }

  authentic(packet: Uint8Array, length: number, ssrc: number, encrypted: boolean, index: number): boolean {
    const indexAt = this.indexAt(length)
    const from = encrypted ? SRTCP_CLEAR_BYTES : indexAt - GCM_TAG_BYTES
    this.#gcm.setIv(ssrc, index)
    return this.#gcm.opens(packet.subarray(0, from), packet.subarray(indexAt, length), packet, from, indexAt)
  }

  open(packet: Uint8Array, length: number, _ssrc: number, encrypted: boolean): number {
    if (encrypted) packet.set(this.#gcm.plaintext, SRTCP_CLEAR_BYTES)
    return length - this.overhead
  }
}

/** AES-GCM under one session key and salt of 12 bytes. */
class Gcm {
  /** Plaintext of the packet that `opens` accepted last. */
  plaintext: Uint8Array = NOTHING
  readonly #algorithm: 'aes-128-gcm' | 'aes-256-gcm'
  readonly #key: KeyObject
  readonly #salt: Uint8Array
  readonly #iv = new Uint8Array(IV_BYTES)

  constructor(keys: SessionKeys) {
    this.#algorithm = keys.encryption.length === 32 ? 'aes-256-gcm' : 'aes-128-gcm'
    this.#key = createSecretKey(keys.encryption)
    this.#salt = keys.salt
  }

  /** 16 zero bits, SSRC, 48-bit index (for RTCP 16 zero bits and its 31-bit one), XORed with the salt. */
  setIv(ssrc: number, index: number): void {
    const iv = this.#iv
    iv.set(this.#salt)
    writeUint32(iv, 2, readUint32(iv, 2) ^ ssrc)
    writeUint32(iv, 6, readUint32(iv, 6) ^ Math.floor(index / 0x10000))
    iv[10] = iv[10]! ^ (index >>> 8)
    iv[11] = iv[11]! ^ index
  }

  /** Encrypts `from` to before `end` in place and writes the tag after it; `first`, then `second` are authenticated. */
  seal(first: Uint8Array, second: Uint8Array, packet: Uint8Array, from: number, end: number): void {
    const cipher = createCipheriv(this.#algorithm, this.#key, this.#iv)
    cipher.setAAD(first)
    if (second.length > 0) cipher.setAAD(second)
    packet.set(cipher.update(packet.subarray(from, end)), from)
    cipher.final()
    packet.set(cipher.getAuthTag(), end)
  }

  /**
   * Decrypts `from` to before the tag that ends before `end` into `plaintext`; returns false, without result, if it is
   * not authentic.
   */
  opens(first: Uint8Array, second: Uint8Array, packet: Uint8Array, from: number, end: number): boolean {
    const tagAt = end - GCM_TAG_BYTES
    const decipher = createDecipheriv(this.#algorithm, this.#key, this.#iv, { authTagLength: GCM_TAG_BYTES })
    decipher.setAAD(first)
    if (second.length > 0) decipher.setAAD(second)
    decipher.setAuthTag(packet.subarray(tagAt, end))
    const plaintext = decipher.update(packet.subarray(from, tagAt))
    try {
      decipher.final()
    } catch {
      return false
    }
    this.plaintext = plaintext
    return true
  }
}
