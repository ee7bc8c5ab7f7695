import { type Ms, RecentMap, TokenBucket, type TokenRate } from '@parley/kernel'

/** Datagrams a second that are read; the rest is dropped unread. Each source may save up one second's worth. */
export interface DatagramLimits {
  /** From one address that is neither a trunk's nor one that we called; default 2000. */
  readonly perSource: number
  /** From one known address; default 12000, about 2500 calls a second. */
  readonly perKnownSource: number
  /** From all unknown addresses together, because source addresses of datagrams can be forged; default 8000. */
  readonly unknownTotal: number
}

export const DEFAULT_DATAGRAM_LIMITS: DatagramLimits = { perSource: 2_000, perKnownSource: 12_000, unknownTotal: 8_000 }

/** How long a decision about an address is used. */
const RECHECK_MS: Ms = 1_000
/** Sources of each kind that are remembered at least; one that is forgotten starts anew. */
const MAX_SOURCES = 4_096

interface Source {
  readonly bucket: TokenBucket
  /** When its address was looked up. */
  checkedAt: Ms
}

/**
 * Decides which datagrams are read. Reading costs much more than dropping, and all sources share one socket: without a limit
 * a flood from one address would fill the socket's buffer and lose the datagrams of all others.
 */
export class DatagramBudget {
  readonly #rate: TokenRate
  readonly #knownRate: TokenRate
  readonly #isKnownAddress: (address: string) => boolean
  /** In separate maps, so that forged addresses push out no known one. */
  readonly #known = new RecentMap<string, Source>(MAX_SOURCES)
  readonly #unknown = new RecentMap<string, Source>(MAX_SOURCES)
  readonly #unknownTotal: TokenBucket
  #dropped = 0

  constructor(limits: DatagramLimits, isKnownAddress: (address: string) => boolean, now: Ms) {
    this.#rate = ofOneSecond(limits.perSource)
    this.#knownRate = ofOneSecond(limits.perKnownSource)
    this.#isKnownAddress = isKnownAddress
    this.#unknownTotal = new TokenBucket(ofOneSecond(limits.unknownTotal), now)
  }

  /** Datagrams dropped since the start. */
  get dropped(): number {
    return this.#dropped
  }

  /** Whether a datagram from this address is read now. */
  admits(address: string, now: Ms): boolean {
    const known = this.#known.get(address)
    const source = known ?? this.#unknown.get(address)
    const isFresh = source !== undefined && now < source.checkedAt + RECHECK_MS
    const isKnown = isFresh ? known !== undefined : this.#isKnownAddress(address)
    const { bucket } = isFresh ? source : this.#remember(address, isKnown, source, now)
    if (bucket.take(now) && (isKnown || this.#unknownTotal.take(now))) return true
    this.#dropped++
    return false
  }

  #remember(address: string, isKnown: boolean, before: Source | undefined, now: Ms): Source {
    const [sources, others] = isKnown ? [this.#known, this.#unknown] : [this.#unknown, this.#known]
    const changed = others.delete(address)
    if (before !== undefined && !changed) {
      before.checkedAt = now
      return before
    }
    const source = { bucket: new TokenBucket(isKnown ? this.#knownRate : this.#rate, now), checkedAt: now }
    sources.set(address, source)
    return source
  }
}

function ofOneSecond(perSecond: number): TokenRate {
  return { perSecond, burst: perSecond }
}
