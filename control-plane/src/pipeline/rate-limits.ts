import { type RateClass, Refusal } from '@parley/contract'
import { addressGroup } from './address-group.ts'
import { type Level, type Rate, TokenBuckets } from './token-bucket.ts'

/** How many requests come in; each with a default. */
export interface RateLimits {
  /** Of one key, unless staff gave its environment another. Default 200/s, burst 1000. */
  readonly key: Rate
  /** Of them, those that cost much. Default 2/s, burst 20. */
  readonly costly: Rate
  /** Of one address (IPv6: one /64) without a valid key. Default 10/s, burst 100. */
  readonly address: Rate
}

export const DEFAULT_RATE_LIMITS: RateLimits = {
  key: { perSecond: 200, burst: 1000 },
  costly: { perSecond: 2, burst: 20 },
  address: { perSecond: 10, burst: 100 },
}

const MAX_KEYS = 50_000
const MAX_ADDRESSES = 50_000

/** What an answer says about the limits that were looked at, as header fields (RateLimit and RateLimit-Policy). */
export interface RateStanding {
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

  constructor(limits: RateLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /** Takes a request of a key; `rate` is its environment's own. Costly ones are counted twice: as requests, too. */
  takeKey(keyId: string, rate: Rate | null, kind: RateClass): { standing: RateStanding; refusal: Refusal | null } {
    const now = this.#now()
    const all = this.#keys.take(keyId, rate ?? this.#limits.key, now)
    if (!all.taken || kind === 'default') return outcome(all.taken, all.level, standingOf(all.level))
    const costly = this.#costly.take(keyId, this.#limits.costly, now)
    return outcome(costly.taken, costly.level, both(standingOf(all.level), standingOf(costly.level, 'costly')))
  }

  /** Takes a request that came without a valid key. */
  takeAddress(address: string): { standing: RateStanding; refusal: Refusal | null } {
    const { taken, level } = this.#addresses.take(addressGroup(address), this.#limits.address, this.#now())
    return outcome(taken, level, standingOf(level))
  }

  /** Refuses a request of an address that has nothing left. */
  refuseAddress(address: string): { standing: RateStanding; refusal: Refusal } {
    const level = this.#addresses.look(addressGroup(address), this.#limits.address, this.#now())
    return { standing: standingOf(level), refusal: refusalAt(level) }
  }

  /** Whether another request without a valid key would be taken. */
  mayTry(address: string): boolean {
    return this.#addresses.look(addressGroup(address), this.#limits.address, this.#now()).waitSeconds === 0
  }
}

function outcome(taken: boolean, level: Level, standing: RateStanding) {
  return { standing, refusal: taken ? null : refusalAt(level) }
}

/** The seconds a caller is told to wait stand in the details, and from there in Retry-After. */
function refusalAt(level: Level): Refusal {
  const seconds = Math.max(1, level.waitSeconds)
  return new Refusal('rate_limited', `too many requests: try again in ${seconds} s`, {
    reason: 'request_rate',
    details: { retry_after_seconds: seconds },
  })
}

function standingOf(level: Level, name = 'default'): RateStanding {
  const { perSecond, burst } = level.rate
  return {
    policy: `"${name}";q=${burst};w=${Math.ceil(burst / perSecond)}`,
    level: `"${name}";r=${level.remaining};t=${level.fullInSeconds}`,
  }
}

function both(one: RateStanding, other: RateStanding): RateStanding {
  return { policy: `${one.policy}, ${other.policy}`, level: `${one.level}, ${other.level}` }
}
