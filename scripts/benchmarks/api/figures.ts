import { quantile } from '../quantile.ts'

/** The median and the 99th percentile. */
export function typicalAndSlow(durations: readonly number[]): { readonly p50_ms: number; readonly p99_ms: number } {
  return { p50_ms: round(quantile(durations, 0.5), 2), p99_ms: round(quantile(durations, 0.99), 2) }
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
