import { type Ms, RecentMap, TokenBucket, type TokenRate } from '@parley/kernel'

/** Datagrams a second that are read; the rest is dropped unread. */
export interface DatagramLimits {
  /** From one address that is neither a trunk's nor one that we called, which may save up 100 ms' worth; default 2000. */
  readonly perSource: number
  /** From one known address, which may save up one second's worth; default 12000, about 2500 calls a second. */
  readonly perKnownSource: number
  /** From all unknown addresses together, because source addresses of datagrams can be forged, with one second's worth; default 8000. */
  readonly unknownTotal: number
}

export const DEFAULT_DATAGRAM_LIMITS: DatagramLimits = { perSource: 2_000, perKnownSource: 12_000, unknownTotal: 8_000 }

/** Share of its rate that an unknown source may save up: reading a whole second's worth at once would fill the socket's buffer meanwhile. */
const UNKNOWN_BURST = 0.1
/** An unknown source that is refused as often as it may send, for this long, floods us. */
const FLOOD_WINDOW_MS: Ms = 100
/** How long a decision about an address is used. */
const RECHECK_MS: Ms = 1_000
/** Sources of each kind that are remembered at least; one that is forgotten starts anew. */
const MAX_SOURCES = 4_096

interface Source {
  readonly bucket: TokenBucket
  /** When its address was looked up. */
  checkedAt: Ms
  /** Datagrams refused since `refusedSince`. */
  refused: number
  refusedSince: Ms
}

/**
 * Decides which datagrams are read. Reading costs much more than dropping, and all sources share one socket: without a limit
 * a flood from one address would fill the socket's buffer and lose the datagrams of all others.
 */
export class DatagramBudget {
  readonly #rate: TokenRate
  readonly #floodRefusals: number
  readonly #knownRate: TokenRate
  readonly #isKnownAddress: (address: string) => boolean
  readonly #onFlood: (address: string) => void
  /** In separate maps, so that forged addresses push out no known one. */
  readonly #known = new RecentMap<string, Source>(MAX_SOURCES)
  readonly #unknown = new RecentMap<string, Source>(MAX_SOURCES)
  readonly #unknownTotal: TokenBucket
  #dropped = 0

  /** `onFlood`: this address, which is not known, sends so much that even dropping it costs too much. Called again while that lasts. */
  constructor(
    limits: DatagramLimits,
    hooks: { isKnownAddress(address: string): boolean; onFlood(address: string): void },
    now: Ms,
  ) {
    this.#rate = { perSecond: limits.perSource, burst: Math.max(1, limits.perSource * UNKNOWN_BURST) }
    this.#floodRefusals = (limits.perSource * FLOOD_WINDOW_MS) / 1000
    this.#knownRate = ofOneSecond(limits.perKnownSource)
    this.#isKnownAddress = address => hooks.isKnownAddress(address)
    this.#onFlood = address => hooks.onFlood(address)
    this.#unknownTotal = new TokenBucket(ofOneSecond(limits.unknownTotal), now)
  }

  /** Datagrams dropped since the start; those that the operating system dropped of a thinned source are estimated. */
  get dropped(): number {
    return this.#dropped
  }

  /** Datagrams were dropped before they arrived. */
  droppedBefore(count: number): void {
    this.#dropped += count
  }

  /** Whether a datagram from this address is read now. */
  admits(address: string, now: Ms): boolean {
    const known = this.#known.get(address)
    const source = known ?? this.#unknown.get(address)
    const isFresh = source !== undefined && now < source.checkedAt + RECHECK_MS
    const isKnown = isFresh ? known !== undefined : this.#isKnownAddress(address)
    const current = isFresh ? source : this.#remember(address, isKnown, source, now)
    const isWithinRate = current.bucket.take(now)
    if (isWithinRate && (isKnown || this.#unknownTotal.take(now))) return true
    this.#dropped++
    if (!isWithinRate && !isKnown) this.#watchForFlood(address, current, now)
    return false
  }

  #watchForFlood(address: string, source: Source, now: Ms): void {
    if (now > source.refusedSince + FLOOD_WINDOW_MS) {
      source.refusedSince = now
      source.refused = 0
    }
    if (++source.refused < this.#floodRefusals) return
    source.refused = 0
    this.#onFlood(address)
  }

  #remember(address: string, isKnown: boolean, before: Source | undefined, now: Ms): Source {
    const [sources, others] = isKnown ? [this.#known, this.#unknown] : [this.#unknown, this.#known]
    const changed = others.delete(address)
    if (before !== undefined && !changed) {
      before.checkedAt = now
      return before
    }
    const source = {
      bucket: new TokenBucket(isKnown ? this.#knownRate : this.#rate, now),
      checkedAt: now,
      refused: 0,
      refusedSince: now,
    }
    sources.set(address, source)
    return source
  }
}

function ofOneSecond(perSecond: number): TokenRate {
  return { perSecond, burst: perSecond }
}
