import type { Ms, Time, Timer } from '@parley/kernel'

/** One datagram in this many of a thinned source is let through. */
const ONE_IN = 64
const MAX_THINNED = 64
/** Short: what the source sends after its flood, such as the BYE of a call, is to arrive. */
const REVIEW_MS: Ms = 200
/** After this many reviews all datagrams have been read that were in the socket's buffer before. */
const SETTLED_REVIEWS = 15

interface Thinned {
  /** Datagrams that arrived since the last review. */
  arrived: number
  reviews: number
}

/**
 * Sources that sent so much that their datagrams alone, read and dropped, would fill the socket's buffer and lose those of others.
 * What still arrives of a thinned source shows when its flood is over.
 */
export class ThinnedSources {
  readonly #time: Time
  readonly #endBelow: number
  readonly #apply: (addresses: readonly string[], oneIn: number) => boolean
  readonly #sources = new Map<string, Thinned>()
  #timer: Timer | undefined

  /** `endBelow`: a flood is over when the source sends fewer datagrams a second than this. */
  constructor(time: Time, endBelow: number, apply: (addresses: readonly string[], oneIn: number) => boolean) {
    this.#time = time
    this.#endBelow = endBelow
    this.#apply = apply
  }

  /** Does nothing for IPv6, beyond 64 sources, and where the system cannot. */
  add(address: string): void {
    if (this.#sources.has(address) || this.#sources.size >= MAX_THINNED || address.includes(':')) return
    this.#sources.set(address, { arrived: 0, reviews: 0 })
    if (this.#apply([...this.#sources.keys()], ONE_IN)) this.#arm()
    else this.#sources.delete(address)
  }

  /** Counts a datagram that arrived; returns an estimate of how many the source has sent for it, 1 in the first seconds. */
  count(address: string): number {
    const source = this.#sources.get(address)
    if (source === undefined) return 1
    source.arrived++
    return source.reviews < SETTLED_REVIEWS ? 1 : ONE_IN
  }

  #arm(): void {
    this.#timer ??= this.#time.at(this.#time.now() + REVIEW_MS, () => {
      this.#timer = undefined
      this.#review()
    })
  }

  #review(): void {
    const before = this.#sources.size
    for (const [address, source] of this.#sources) {
      if ((source.arrived * ONE_IN * 1000) / REVIEW_MS < this.#endBelow) this.#sources.delete(address)
      source.arrived = 0
      source.reviews++
    }
    if (this.#sources.size < before) this.#apply([...this.#sources.keys()], ONE_IN)
    if (this.#sources.size > 0) this.#arm()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#sources.clear()
  }
}
