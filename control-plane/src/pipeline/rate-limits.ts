import { type RateClass, Refusal } from '@parley/contract'
import { TokenBuckets, type TokenLevel, type TokenRate } from '@parley/kernel'
import { addressGroup } from './address-group.ts'

/** Rate limits of requests. */
export interface RateLimits {
  /** Of one key, unless staff gave its environment another. Default 200/s, burst 1000. */
  readonly key: TokenRate
  /** Of one key, for costly operations. Default 2/s, burst 20. */
  readonly costly: TokenRate
  /** Of one address (IPv6: one /64) without a valid key. Default 10/s, burst 100. */
  readonly address: TokenRate
  /** Of one address (IPv6: one /64), for attempts to sign in by a link. Default 1 in 5 s, burst 20. */
  readonly signIn?: TokenRate
  /** Of one address (IPv6: one /64), for calls with site keys. Default 1 in 10 s, burst 10. */
  readonly siteCall?: TokenRate
}

export const DEFAULT_RATE_LIMITS = {
  key: { perSecond: 200, burst: 1000 },
  costly: { perSecond: 2, burst: 20 },
  address: { perSecond: 10, burst: 100 },
  signIn: { perSecond: 0.2, burst: 20 },
  siteCall: { perSecond: 0.1, burst: 10 },
} as const satisfies RateLimits

const MAX_KEYS = 50_000
const MAX_ADDRESSES = 50_000

/** The values of the response headers RateLimit-Policy (`policy`) and RateLimit (`level`). */
export interface RateLimitStatus {
  readonly policy: string
  readonly level: string
}

/** Counts requests by key and by address, in this process. */
export class RateLimiter {
  readonly #limits: RateLimits
  readonly #now: () => number
  readonly #keys = new TokenBuckets(MAX_KEYS)
  readonly #costly = new TokenBuckets(MAX_KEYS)
  readonly #addresses = new TokenBuckets(MAX_ADDRESSES)
  readonly #signIns = new TokenBuckets(MAX_ADDRESSES)
  readonly #siteCalls = new TokenBuckets(MAX_ADDRESSES)

  constructor(limits: RateLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /** Counts a request of a key; `rate` is the limit that staff set for its environment. A costly request counts against both limits. */
  takeKey(
    keyId: string,
    rate: TokenRate | null,
    kind: RateClass,
  ): { rateLimit: RateLimitStatus; refusal: Refusal | null } {
    const now = this.#now()
    const all = taken(this.#keys, keyId, rate ?? this.#limits.key, now)
    if (!all.taken || kind === 'default') return outcome(all.taken, all.level, statusOf(all.level))
    const costly = taken(this.#costly, keyId, this.#limits.costly, now)
    return outcome(costly.taken, costly.level, both(statusOf(all.level), statusOf(costly.level, 'costly')))
  }

  /** Counts an attempt to sign in by a link, or to get one. */
  takeSignIn(address: string): { rateLimit: RateLimitStatus; refusal: Refusal | null } {
    const rate = this.#limits.signIn ?? DEFAULT_RATE_LIMITS.signIn
    const attempt = taken(this.#signIns, addressGroup(address), rate, this.#now())
    return outcome(attempt.taken, attempt.level, statusOf(attempt.level, 'sign-in'))
  }

  /** Counts a call that a page starts with a site key. */
  takeSiteCall(address: string): { rateLimit: RateLimitStatus; refusal: Refusal | null } {
    const rate = this.#limits.siteCall ?? DEFAULT_RATE_LIMITS.siteCall
    const call = taken(this.#siteCalls, addressGroup(address), rate, this.#now())
    return outcome(call.taken, call.level, statusOf(call.level, 'site-call'))
  }

  /** Counts a request without a valid key. */
  takeAddress(address: string): { rateLimit: RateLimitStatus; refusal: Refusal | null } {
    const request = taken(this.#addresses, addressGroup(address), this.#limits.address, this.#now())
    return outcome(request.taken, request.level, statusOf(request.level))
  }

  /** The refusal of a request from an address without tokens. */
  refuseAddress(address: string): { rateLimit: RateLimitStatus; refusal: Refusal } {
    const level = this.#addresses.level(addressGroup(address), this.#limits.address, this.#now())
    return { rateLimit: statusOf(level), refusal: refusalAt(level) }
  }

  /** Whether another request without a valid key would be accepted. */
  hasAddressTokens(address: string): boolean {
    return this.#addresses.level(addressGroup(address), this.#limits.address, this.#now()).waitSeconds === 0
  }
}

function taken(buckets: TokenBuckets, name: string, rate: TokenRate, now: number) {
  return { taken: buckets.take(name, rate, now), level: buckets.level(name, rate, now) }
}

function outcome(taken: boolean, level: TokenLevel, rateLimit: RateLimitStatus) {
  return { rateLimit, refusal: taken ? null : refusalAt(level) }
}

/** `details.retry_after_seconds` also becomes the Retry-After header. */
function refusalAt(level: TokenLevel): Refusal {
  const seconds = Math.max(1, level.waitSeconds)
  return new Refusal('rate_limited', `too many requests: try again in ${seconds} s`, {
    reason: 'request_rate',
    details: { retry_after_seconds: seconds },
  })
}

function statusOf(level: TokenLevel, name = 'default'): RateLimitStatus {
  const { perSecond, burst } = level.rate
  return {
    policy: `"${name}";q=${burst};w=${Math.ceil(burst / perSecond)}`,
    level: `"${name}";r=${level.remaining};t=${level.fullInSeconds}`,
  }
}

function both(one: RateLimitStatus, other: RateLimitStatus): RateLimitStatus {
  return { policy: `${one.policy}, ${other.policy}`, level: `${one.level}, ${other.level}` }
}
