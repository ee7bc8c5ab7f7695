/** A rate limit: `perSecond` in the long run, `burst` at once. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

interface Bucket {
  tokens: number
  /** Unix ms of the last refill. */
  at: number
  rate: Rate
}

/** The level of a bucket after a request. */
export interface Level {
  readonly rate: Rate
  /** Number of requests that would be accepted now. */
  readonly remaining: number
  /** Seconds until the bucket is full again. */
  readonly fullInSeconds: number
  /** Seconds until the next request is accepted; 0: now. */
  readonly waitSeconds: number
}

/**
 * Token buckets by name, full at first. At most `capacity` are stored; the least recently used one is dropped first, so
 * that many names cost bounded memory. A dropped bucket is full again at its next use.
 */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Takes one token if there is one. */
  take(name: string, rate: Rate, now: number): { readonly taken: boolean; readonly level: Level } {
    const bucket = this.#filled(name, rate, now)
    const taken = bucket.tokens >= 1
    if (taken) bucket.tokens -= 1
    return { taken, level: levelOf(bucket) }
  }

  /** The level without taking a token. */
  peek(name: string, rate: Rate, now: number): Level {
    const bucket = this.#buckets.get(name)
    return levelOf(bucket === undefined ? { tokens: rate.burst, at: now, rate } : refilled(bucket, rate, now))
  }

  #filled(name: string, rate: Rate, now: number): Bucket {
    const known = this.#buckets.get(name)
    if (known !== undefined) {
      // The order of the map is the order of use.
      this.#buckets.delete(name)
      this.#buckets.set(name, known)
      return refilled(known, rate, now)
    }
    if (this.#buckets.size >= this.#capacity) this.#buckets.delete(this.#buckets.keys().next().value!)
    const made = { tokens: rate.burst, at: now, rate }
    this.#buckets.set(name, made)
    return made
  }
}

function refilled(bucket: Bucket, rate: Rate, now: number): Bucket {
  // A clock that was set back neither adds nor removes tokens.
  const passed = Math.max(0, now - bucket.at) / 1000
  bucket.tokens = Math.min(rate.burst, bucket.tokens + passed * rate.perSecond)
  bucket.at = now
  bucket.rate = rate
  return bucket
}

function levelOf({ tokens, rate }: Bucket): Level {
  return {
    rate,
    remaining: Math.floor(tokens),
    fullInSeconds: Math.ceil((rate.burst - tokens) / rate.perSecond),
    waitSeconds: tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / rate.perSecond)),
  }
}
