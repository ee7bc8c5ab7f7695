const BUCKETS_PER_DECADE = 200
const LOWEST = 0.01
/** 0.01 to 10^7. */
const BUCKETS = 9 * BUCKETS_PER_DECADE

/** Counts values of at least 0 in buckets of 1.2 % width, so that any number of values takes the same memory. */
export class Distribution {
  readonly #buckets = new Uint32Array(BUCKETS + 1)
  count = 0
  sum = 0
  max = 0

  add(value: number): void {
    const bucket = value <= LOWEST ? 0 : 1 + Math.floor(Math.log10(value / LOWEST) * BUCKETS_PER_DECADE)
    this.#buckets[Math.min(BUCKETS, bucket)]!++
    this.count++
    this.sum += value
    if (value > this.max) this.max = value
  }

  /** The value that `share` (0 to 1) of all values do not exceed, up to 1.2 % too high; null without values. */
  quantile(share: number): number | null {
    if (this.count === 0) return null
    let left = Math.max(1, Math.ceil(this.count * share))
    for (let bucket = 0; bucket <= BUCKETS; bucket++) {
      left -= this.#buckets[bucket]!
      if (left <= 0) return Math.min(this.max, LOWEST * 10 ** (bucket / BUCKETS_PER_DECADE))
    }
    return this.max
  }
}

export interface Quantiles {
  readonly count: number
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
  readonly p999: number | null
  readonly max: number | null
}

export function quantilesOf(values: Distribution): Quantiles {
  const at = (share: number) => rounded(values.quantile(share))
  return {
    count: values.count,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
    max: values.count === 0 ? null : rounded(values.max),
  }
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 100) / 100
}
