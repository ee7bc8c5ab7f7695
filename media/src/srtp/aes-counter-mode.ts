import { type Cipheriv, createCipheriv } from 'node:crypto'
import { readUint32, writeUint32 } from '../rtp/rtp-packet.ts'

const BLOCK_BYTES = 16
/** Covers a whole packet slot; longer input takes several rounds. */
const MAX_BLOCKS = 96

/** Counter blocks, shared by all contexts of the thread: they are public values, used up within one call. */
const blockWords = new Uint32Array(MAX_BLOCKS * 4)
const blockBytes = new Uint8Array(blockWords.buffer)
/** `blockViews[n]` is the first n blocks: views made once, since making one costs as much as encrypting through it. */
const blockViews = Array.from({ length: MAX_BLOCKS + 1 }, (_, blocks) => blockBytes.subarray(0, blocks * BLOCK_BYTES))

/**
 * AES in counter mode (RFC 3711 section 4.1.1) under one session key and salt.
 *
 * A counter-mode cipher of node:crypto cannot change its IV, so each packet would need a new one (10 us). An ECB cipher
 * has no state between blocks: one lives as long as the key and encrypts the counter blocks (0.5 us for a packet). What
 * Node forces: `update` returns a new Buffer, the one allocation per packet.
 */
export class AesCounterMode {
  readonly #cipher: Cipheriv
  readonly #salt: Uint8Array
  readonly #iv = new Uint8Array(BLOCK_BYTES)
  readonly #ivWords = new Uint32Array(this.#iv.buffer)

  /** `key` is 16 or 32 bytes, `salt` 14. */
  constructor(key: Uint8Array, salt: Uint8Array) {
    this.#cipher = createCipheriv(key.length === 32 ? 'aes-256-ecb' : 'aes-128-ecb', key, null).setAutoPadding(false)
    this.#salt = salt.slice()
  }

  /**
   * XORs the keystream of packet `index` (48 bits; 31 for SRTCP) of `ssrc` onto `bytes` from `offset` to before `end`.
   * Encrypts and decrypts. The same `ssrc` and `index` must never encrypt twice. At most 2^16 blocks.
   */
  apply(bytes: Uint8Array, offset: number, end: number, ssrc: number, index: number): void {
    this.#setIv(ssrc, index)
    let counter = 0
    for (let at = offset; at < end; ) {
      const blocks = Math.min(MAX_BLOCKS, (end - at + BLOCK_BYTES - 1) >>> 4)
      this.#fill(counter, blocks)
      const keystream = this.#cipher.update(blockViews[blocks]!)
      const count = Math.min(end - at, keystream.length)
      for (let i = 0; i < count; i++) bytes[at + i] = bytes[at + i]! ^ keystream[i]!
      at += count
      counter += blocks
    }
  }

  /** IV = (salt * 2^16) XOR (SSRC * 2^64) XOR (index * 2^16). */
  #setIv(ssrc: number, index: number): void {
    const iv = this.#iv
    const salt = this.#salt
    iv.set(salt)
    writeUint32(iv, 4, readUint32(salt, 4) ^ ssrc)
    writeUint32(iv, 8, readUint32(salt, 8) ^ Math.floor(index / 0x10000))
    iv[12] = salt[12]! ^ (index >>> 8)
    iv[13] = salt[13]! ^ index
  }

  #fill(counter: number, blocks: number): void {
    const w0 = this.#ivWords[0]!
    const w1 = this.#ivWords[1]!
    const w2 = this.#ivWords[2]!
    const w3 = this.#ivWords[3]!
    for (let block = 0, word = 0; block < blocks; block++, word += 4) {
      blockWords[word] = w0
      blockWords[word + 1] = w1
      blockWords[word + 2] = w2
      blockWords[word + 3] = w3
      blockBytes[block * BLOCK_BYTES + 14] = (counter + block) >>> 8
      blockBytes[block * BLOCK_BYTES + 15] = counter + block
    }
  }
}
