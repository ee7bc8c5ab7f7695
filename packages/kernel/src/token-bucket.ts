import { RecentMap } from './recent-map.ts'
import type { Ms } from './units.ts'

/** A rate limit: `perSecond` in the long run, `burst` at once. */
export interface TokenRate {
  readonly perSecond: number
  readonly burst: number
}

/** The level of a bucket. */
export interface TokenLevel {
  readonly rate: TokenRate
  /** Number of tokens that could be taken now. */
  readonly remaining: number
  /** Seconds until the bucket is full again. */
  readonly fullInSeconds: number
  /** Seconds until a token can be taken; 0: now. */
  readonly waitSeconds: number
}

/** Limits a rate (token bucket); full at first. Takes the time as an input. */
export class TokenBucket {
  #rate: TokenRate
  #tokens: number
  #filledAt: Ms

  constructor(rate: TokenRate, now: Ms) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#filledAt = now
  }

  /** Takes one token if there is one. Allocates nothing. */
  take(now: Ms): boolean {
    this.#refill(now)
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  level(now: Ms): TokenLevel {
    this.#refill(now)
    const { perSecond, burst } = this.#rate
    return {
      rate: this.#rate,
      remaining: Math.floor(this.#tokens),
      fullInSeconds: Math.ceil((burst - this.#tokens) / perSecond),
      waitSeconds: this.#tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - this.#tokens) / perSecond)),
    }
  }

  /** Tokens since the last use are counted at the new rate. */
  setRate(rate: TokenRate): void {
    this.#rate = rate
  }

  #refill(now: Ms): void {
    // A clock that was set back neither adds nor removes tokens.
    const passed = Math.max(0, now - this.#filledAt)
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + (passed * this.#rate.perSecond) / 1000)
    this.#filledAt = now
  }
}

/**
 * Token buckets by name. At least the `capacity` buckets that were used last are stored, and at most twice as many, so that
 * many names cost bounded memory. A bucket that was forgotten is full at its next use.
 */
export class TokenBuckets {
  readonly #buckets: RecentMap<string, TokenBucket>

  constructor(capacity: number) {
    this.#buckets = new RecentMap(capacity)
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Takes one token of the bucket `name`, whose rate is `rate` from now on, if there is one. */
  take(name: string, rate: TokenRate, now: Ms): boolean {
    let bucket = this.#buckets.get(name)
    if (bucket === undefined) {
      bucket = new TokenBucket(rate, now)
      this.#buckets.set(name, bucket)
    } else bucket.setRate(rate)
    return bucket.take(now)
  }

  /** The level without taking a token. Stores no bucket for a new name. */
  level(name: string, rate: TokenRate, now: Ms): TokenLevel {
    const bucket = this.#buckets.get(name) ?? new TokenBucket(rate, now)
    bucket.setRate(rate)
    return bucket.level(now)
  }
}
