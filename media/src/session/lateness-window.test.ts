import { expect, it } from 'vitest'
import { LatenessWindow } from './lateness-window.ts'

function filled(packets: number, lateMs: number): LatenessWindow {
  const window = new LatenessWindow(0)
  for (let i = 0; i < packets; i++) window.add(lateMs)
  return window
}

it('a window of five seconds reports the p99 of its packets once', () => {
  const window = filled(2900, 1)
  for (let i = 0; i < 100; i++) window.add(50)
  expect(window.ended(4999)).toBeNull()
  expect(window.ended(5000)).toBeCloseTo(50, 0)
  expect(window.ended(5001)).toBeNull()
  expect(window.ended(10_000)).toBe(0)
})

it('a window with the packets of fewer than ten calls reports no lateness', () => {
  expect(filled(2499, 80).ended(5000)).toBe(0)
  expect(filled(2500, 80).ended(5000)).toBeCloseTo(80, 0)
})

it('what a window has counted is taken once, whenever windows begin and end', () => {
  const window = filled(3000, 1)
  expect(window.takeCounts().buckets.at(-1)).toBe(3000)
  for (let i = 0; i < 10; i++) window.add(50)
  expect(window.ended(5000)).toBeCloseTo(1, 0)
  window.add(60)
  window.reset(6000)
  window.add(70)
  const { buckets, maxMs } = window.takeCounts()
  expect(maxMs).toBe(70)
  expect(buckets.reduce((sum, packets) => sum + packets, 0)).toBe(12)
  expect(buckets.length * 0.02).toBeCloseTo(70, 1)
  expect(window.takeCounts()).toEqual({ buckets: new Uint32Array(0), maxMs: 0 })
})
