import { Sha1State } from './sha1.ts'

const BLOCK_BYTES = 64

/**
 * HMAC-SHA1 under one key (RFC 2104). The hash states after the inner and the outer padded key are computed once. It does not use
 * node:crypto, which makes a new object for each message: that costs several times the hash of a 172-byte packet.
 */
export class HmacSha1 {
  /** The last result; its first bytes are the truncated tag. */
  readonly digest = new Uint8Array(20)
  readonly #inner = new Sha1State()
  readonly #outer = new Sha1State()
  readonly #work = new Sha1State()

  constructor(key: Uint8Array) {
    const padded = new Uint8Array(BLOCK_BYTES)
    if (key.length <= BLOCK_BYTES) padded.set(key)
    else {
      this.#work.finish(key, key.length, 0)
      this.#work.write(padded)
    }
    for (let i = 0; i < BLOCK_BYTES; i++) padded[i] = padded[i]! ^ 0x36
    this.#inner.absorb(padded)
    for (let i = 0; i < BLOCK_BYTES; i++) padded[i] = padded[i]! ^ 0x36 ^ 0x5c
    this.#outer.absorb(padded)
  }

  /** Computes `digest` over the first `length` bytes of `message`. */
  compute(message: Uint8Array, length: number): void {
    const work = this.#work
    work.copy(this.#inner)
    work.finish(message, length, BLOCK_BYTES)
    work.write(this.digest)
    work.copy(this.#outer)
    work.finish(this.digest, 20, BLOCK_BYTES)
    work.write(this.digest)
  }
}
