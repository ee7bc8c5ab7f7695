/** Percentiles of values of one unit, such as ms. */
interface Percentiles {
  readonly p50: number
  readonly p90: number
  readonly p95: number
}

/** Nearest-rank percentiles; null values are left out; null if no value is left. */
export function percentiles(values: readonly (number | null)[]): Percentiles | null {
  const sorted = values.filter(value => value !== null).sort((a, b) => a - b)
  if (sorted.length === 0) return null
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
  return { p50: rank(0.5), p90: rank(0.9), p95: rank(0.95) }
}
