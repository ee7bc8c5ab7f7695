import { type Cipheriv, createCipheriv } from 'node:crypto'
import { readUint32, writeUint32 } from '../rtp/rtp-packet.ts'

const BLOCK_BYTES = 16
/** Keystream is computed for this many packets at a time. */
const PACKETS_AHEAD = 8
/** Most blocks of each of these packets: 20 ms of G.711 are 10. */
const BLOCKS_AHEAD = 12
/** Enough for a whole packet slot; longer input takes several rounds. */
const MAX_BLOCKS = 96

/** Counter blocks, shared by all contexts of the thread: they are public values and used only within one call. */
const blockWords = new Uint32Array(MAX_BLOCKS * 4)
const blockBytes = new Uint8Array(blockWords.buffer)
/**
 * `blockViews[n]` is a view of the first n blocks, created once, because creating one costs as much as encrypting
 * through it.
 */
const blockViews = Array.from({ length: MAX_BLOCKS + 1 }, (_, blocks) => blockBytes.subarray(0, blocks * BLOCK_BYTES))

/**
 * AES in counter mode (RFC 3711 section 4.1.1) under one session key and salt.
 *
 * A counter-mode cipher of node:crypto cannot change its IV, so each packet would need a new one (10 us). An ECB cipher
 * has no state between blocks: one lives as long as the key and encrypts the counter blocks. Each `update` returns a new
 * Buffer, which costs more than the encryption (2 us and the garbage): so the keystream of the next packets of the same
 * source is made with it, an eighth of that for each.
 */
export class AesCounterMode {
  readonly #cipher: Cipheriv
  readonly #salt: Uint8Array
  readonly #looksAhead: boolean
  readonly #iv = new Uint8Array(BLOCK_BYTES)
  readonly #ivWords = new Uint32Array(this.#iv.buffer)
  /** For packets #aheadIndex to #aheadIndex + PACKETS_AHEAD - 1 of #aheadSsrc, BLOCKS_AHEAD blocks each. */
  #ahead: Uint8Array = blockBytes.subarray(0, 0)
  #aheadSsrc = -1
  #aheadIndex = 0

  /**
   * `key` is 16 or 32 bytes, `salt` 14. `looksAhead`: whether the keystream of the next packets is made and kept (1.5 kB); default: it is.
   */
  constructor(key: Uint8Array, salt: Uint8Array, looksAhead = true) {
    this.#looksAhead = looksAhead
    this.#cipher = createCipheriv(key.length === 32 ? 'aes-256-ecb' : 'aes-128-ecb', key, null).setAutoPadding(false)
    this.#salt = salt.slice()
  }

  /**
   * XORs the keystream of packet `index` (48 bits; 31 for SRTCP) of `ssrc` onto `bytes` from `offset` to before `end`.
   * Encrypts and decrypts. The same `ssrc` and `index` must never encrypt twice. At most 2^16 blocks.
   */
  apply(bytes: Uint8Array, offset: number, end: number, ssrc: number, index: number): void {
    if (this.#looksAhead && end - offset <= BLOCKS_AHEAD * BLOCK_BYTES && this.#reach(ssrc, index)) {
      const from = (index - this.#aheadIndex) * BLOCKS_AHEAD * BLOCK_BYTES
      exclusiveOr(bytes, offset, end - offset, this.#ahead, from)
      return
    }
    this.#setIv(ssrc, index)
    let counter = 0
    for (let at = offset; at < end; ) {
      const blocks = Math.min(MAX_BLOCKS, (end - at + BLOCK_BYTES - 1) >>> 4)
      this.#fill(0, counter, blocks)
      const keystream = this.#cipher.update(blockViews[blocks]!)
      const count = Math.min(end - at, keystream.length)
      exclusiveOr(bytes, at, count, keystream, 0)
      at += count
      counter += blocks
    }
  }

  /**
   * Whether keystream for the packet is available; computes it if the packet is the next one. For an older packet it is
   * not computed.
   */
  #reach(ssrc: number, index: number): boolean {
    if (ssrc === this.#aheadSsrc) {
      if (index < this.#aheadIndex) return false
      if (index < this.#aheadIndex + PACKETS_AHEAD) return true
    }
    this.#aheadSsrc = ssrc
    this.#aheadIndex = index
    for (let packet = 0; packet < PACKETS_AHEAD; packet++) {
      this.#setIv(ssrc, index + packet)
      this.#fill(packet * BLOCKS_AHEAD, 0, BLOCKS_AHEAD)
    }
    this.#ahead = this.#cipher.update(blockViews[PACKETS_AHEAD * BLOCKS_AHEAD]!)
    return true
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

  /** Writes counter blocks from `counter` on under the IV to the blocks from `first` on. */
  #fill(first: number, counter: number, blocks: number): void {
    const w0 = this.#ivWords[0]!
    const w1 = this.#ivWords[1]!
    const w2 = this.#ivWords[2]!
    const w3 = this.#ivWords[3]!
    for (let block = 0, word = first * 4; block < blocks; block++, word += 4) {
      blockWords[word] = w0
      blockWords[word + 1] = w1
      blockWords[word + 2] = w2
      blockWords[word + 3] = w3
      blockBytes[word * 4 + 14] = (counter + block) >>> 8
      blockBytes[word * 4 + 15] = counter + block
    }
  }
}

function exclusiveOr(bytes: Uint8Array, at: number, count: number, keystream: Uint8Array, from: number): void {
  for (let i = 0; i < count; i++) bytes[at + i] = bytes[at + i]! ^ keystream[from + i]!
}
