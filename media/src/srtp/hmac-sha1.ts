import { Sha1State } from './sha1.ts'

const BLOCK_BYTES = 64

/** State and result of the message that is being hashed, of all keys of the thread: hashing is synchronous. */
const work = new Sha1State()
const digest = new Uint8Array(20)

/**
 * HMAC-SHA1 under one key (RFC 2104). The hash states after the inner and the outer padded key are computed once. It does not use
 * node:crypto, which makes a new object for each message: that costs several times the hash of a 172-byte packet.
 */
export class HmacSha1 {
  /** The result of `compute`, until the next one of any key; its first bytes are the truncated tag. */
  readonly digest = digest
  readonly #inner = new Sha1State()
  readonly #outer = new Sha1State()

  constructor(key: Uint8Array) {
    const padded = new Uint8Array(BLOCK_BYTES)
    if (key.length <= BLOCK_BYTES) padded.set(key)
    else {
      work.copy(new Sha1State())
      work.finish(key, key.length, 0)
      work.write(padded)
    }
    for (let i = 0; i < BLOCK_BYTES; i++) padded[i] = padded[i]! ^ 0x36
    this.#inner.absorb(padded)
    for (let i = 0; i < BLOCK_BYTES; i++) padded[i] = padded[i]! ^ 0x36 ^ 0x5c
    this.#outer.absorb(padded)
  }

  /** Computes `digest` over the first `length` bytes of `message`. */
  compute(message: Uint8Array, length: number): void {
    work.copy(this.#inner)
    work.finish(message, length, BLOCK_BYTES)
    work.write(digest)
    work.copy(this.#outer)
    work.finish(digest, 20, BLOCK_BYTES)
    work.write(digest)
  }
}
