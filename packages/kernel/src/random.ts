/** Randomness as an input: `systemRandom` (io) in production, `SeededRandom` in tests. */
export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array
}

/** Uniform integer of 0 (inclusive) to `bound` (exclusive); `bound` is 1 to 2^32. */
export function randomBelow(random: Random, bound: number): number {
  if (!Number.isInteger(bound) || bound < 1 || bound > 2 ** 32) throw new RangeError(`bound ${bound} is not 1..2^32`)
  const limit = 2 ** 32 - (2 ** 32 % bound)
  for (;;) {
    const value = randomUint32(random)
    if (value < limit) return value % bound
  }
}

export function randomUint32(random: Random): number {
  const b = random.bytes(4)
  return ((b[0]! << 24) | (b[1]! << 16) | (b[2]! << 8) | b[3]!) >>> 0
}

/** A token of `length` characters out of `[a-z2-7]` (5 bits each): safe in SIP tokens, tags, branches, file names. */
export function randomToken(random: Random, length: number): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  let token = ''
  for (const byte of random.bytes(length)) token += alphabet[byte & 31]
  return token
}

/** Deterministic bytes from a 32-bit seed (xorshift128 seeded by splitmix32): for tests only, because it is predictable. */
export class SeededRandom implements Random {
  readonly #state = new Uint32Array(4)

  constructor(seed: number) {
    let x = seed >>> 0
    for (let i = 0; i < 4; i++) {
      x = (x + 0x9e3779b9) >>> 0
      let z = x
      z = Math.imul(z ^ (z >>> 16), 0x85ebca6b) >>> 0
      z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35) >>> 0
      this.#state[i] = (z ^ (z >>> 16)) >>> 0
    }
    this.#state[0] = this.#state[0]! | 1
  }

  bytes(length: number): Uint8Array {
    const out = new Uint8Array(length)
    for (let i = 0; i < length; i++) out[i] = this.#next() >>> 13
    return out
  }

  #next(): number {
    const s = this.#state
    let t = s[3]!
    const head = s[0]!
    s[3] = s[2]!
    s[2] = s[1]!
    s[1] = head
    t = (t ^ (t << 11)) >>> 0
    t = (t ^ (t >>> 8)) >>> 0
    s[0] = (t ^ head ^ (head >>> 19)) >>> 0
    return s[0]!
  }
}
