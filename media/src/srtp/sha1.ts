import { writeUint32 } from '../rtp/rtp-packet.ts'

const BLOCK_BYTES = 64

/** Message schedule and padded last blocks, shared by all states: hashing is synchronous, and both are overwritten before they are read. */
const schedule = new Int32Array(80)
const tail = new Uint8Array(2 * BLOCK_BYTES)

/** The chaining state of SHA-1 (FIPS 180-4 section 6.1), reusable, so that hashing allocates nothing. */
export class Sha1State {
  #a = 0x67452301
  #b = 0xefcdab89 | 0
  #c = 0x98badcfe | 0
  #d = 0x10325476
  #e = 0xc3d2e1f0 | 0

  copy(from: Sha1State): void {
    this.#a = from.#a
    this.#b = from.#b
    this.#c = from.#c
    this.#d = from.#d
    this.#e = from.#e
  }

  /** Hashes one block of 64 bytes. */
  absorb(block: Uint8Array): void {
    this.#compress(block, 0)
  }

  /** Hashes the first `length` bytes of `message` and the final padding, after `absorbed` bytes (whole blocks). */
  finish(message: Uint8Array, length: number, absorbed: number): void {
    let offset = 0
    for (; offset + BLOCK_BYTES <= length; offset += BLOCK_BYTES) this.#compress(message, offset)
    const rest = length - offset
    for (let i = 0; i < rest; i++) tail[i] = message[offset + i]!
    const end = rest < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES
    tail[rest] = 0x80
    tail.fill(0, rest + 1, end - 8)
    const total = absorbed + length
    writeUint32(tail, end - 8, Math.floor(total / 2 ** 29))
    writeUint32(tail, end - 4, total << 3)
    this.#compress(tail, 0)
    if (end > BLOCK_BYTES) this.#compress(tail, BLOCK_BYTES)
  }

  /** Writes the 20 bytes of the digest to the start of `dst`. */
  write(dst: Uint8Array): void {
    writeUint32(dst, 0, this.#a)
    writeUint32(dst, 4, this.#b)
    writeUint32(dst, 8, this.#c)
    writeUint32(dst, 12, this.#d)
    writeUint32(dst, 16, this.#e)
  }

  #compress(bytes: Uint8Array, offset: number): void {
    const w = schedule
    for (let i = 0, at = offset; i < 16; i++, at += 4) {
      w[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
    }
    for (let i = 16; i < 80; i++) {
      const x = w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!
      w[i] = (x << 1) | (x >>> 31)
    }
    let a = this.#a
    let b = this.#b
    let c = this.#c
    let d = this.#d
    let e = this.#e
    let t = 0
    for (let i = 0; i < 20; i++) {
      t = (((a << 5) | (a >>> 27)) + (d ^ (b & (c ^ d))) + e + w[i]! + 0x5a827999) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = t
    }
    for (let i = 20; i < 40; i++) {
      t = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + w[i]! + 0x6ed9eba1) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = t
    }
    for (let i = 40; i < 60; i++) {
      t = (((a << 5) | (a >>> 27)) + ((b & c) | (d & (b | c))) + e + w[i]! + 0x8f1bbcdc) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = t
    }
    for (let i = 60; i < 80; i++) {
      t = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + w[i]! + 0xca62c1d6) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = t
    }
    this.#a = (this.#a + a) | 0
    this.#b = (this.#b + b) | 0
    this.#c = (this.#c + c) | 0
    this.#d = (this.#d + d) | 0
    this.#e = (this.#e + e) | 0
  }
}
