import { expect, it } from 'vitest'
import { percentiles } from './percentiles.ts'

it('percentiles are values of the input, by nearest rank', () => {
  expect(percentiles([5, null, 1, 4, 2, 3])).toEqual({ p50: 3, p90: 5, p95: 5 })
  expect(percentiles([7])).toEqual({ p50: 7, p90: 7, p95: 7 })
  expect(percentiles(Array.from({ length: 100 }, (_, i) => i + 1))).toEqual({ p50: 50, p90: 90, p95: 95 })
})

it('percentiles of no values are null', () => {
  expect(percentiles([])).toBe(null)
  expect(percentiles([null])).toBe(null)
})
