import { quantile } from '../quantile.ts'

/** What half of them do not exceed, and 99 of a hundred. */
export function typicalAndSlow(took: readonly number[]): { readonly p50_ms: number; readonly p99_ms: number } {
  return { p50_ms: round(quantile(took, 0.5), 2), p99_ms: round(quantile(took, 0.99), 2) }
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
