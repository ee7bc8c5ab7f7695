import { type Ms, type Random, randomToken, type Time } from '@parley/kernel'
import { equalInConstantTime, KeyedHash } from './keyed-hash.ts'

/** Nonces made of time, salt and a keyed hash over both: they need no memory until a client proves a password with one. */
export class NonceStore {
  readonly #time: Time
  readonly #random: Random
  readonly #hash: KeyedHash
  readonly #lifetimeMs: Ms
  readonly #capacity: number
  /** The highest nonce count that was used with a nonce; insertion order is order of first use. */
  readonly #used = new Map<string, number>()
  /** Nonces made before this time are stale, because some of them were evicted. */
  #forgottenBefore: Ms = Number.NEGATIVE_INFINITY

  constructor(time: Time, random: Random, options: { readonly lifetimeMs: Ms; readonly capacity: number }) {
    this.#time = time
    this.#random = random
    this.#hash = new KeyedHash(random)
    this.#lifetimeMs = options.lifetimeMs
    this.#capacity = options.capacity
  }

  issue(realm: string): string {
    const stem = `${Math.floor(this.#time.now()).toString(36)}.${randomToken(this.#random, 12)}`
    return `${stem}.${this.#hash.of(`${realm} ${stem}`)}`
  }

  /** "foreign": not made by us for this realm; "stale": made by us, but too old. */
  judge(nonce: string, realm: string): 'current' | 'stale' | 'foreign' {
    const issuedAt = this.#issuedAt(nonce, realm)
    if (issuedAt === undefined) return 'foreign'
    const age = this.#time.now() - issuedAt
    return age > this.#lifetimeMs || issuedAt < this.#forgottenBefore ? 'stale' : 'current'
  }

  /** False: this count, or a higher one, was used before (RFC 7616 section 3.4: a replay). Only for proven requests. */
  use(nonce: string, count: number): boolean {
    const highest = this.#used.get(nonce)
    if (highest !== undefined && count <= highest) return false
    if (highest === undefined && this.#used.size >= this.#capacity) this.#makeRoom()
    this.#used.set(nonce, count)
    return true
  }

  #makeRoom(): void {
    const now = this.#time.now()
    for (const nonce of this.#used.keys()) {
      const issuedAt = madeAt(nonce)
      if (this.#used.size < this.#capacity && now - issuedAt <= this.#lifetimeMs) break
      this.#used.delete(nonce)
      // An evicted nonce must not become usable again, so every nonce of its age is stale.
      if (now - issuedAt <= this.#lifetimeMs) this.#forgottenBefore = Math.max(this.#forgottenBefore, issuedAt + 1)
    }
  }

  #issuedAt(nonce: string, realm: string): Ms | undefined {
    const cut = nonce.lastIndexOf('.')
    const stem = nonce.slice(0, Math.max(cut, 0))
    if (cut < 0 || !equalInConstantTime(nonce.slice(cut + 1), this.#hash.of(`${realm} ${stem}`))) return undefined
    return madeAt(nonce)
  }

  get size(): number {
    return this.#used.size
  }
}

function madeAt(nonce: string): Ms {
  return Number.parseInt(nonce, 36)
}
