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
