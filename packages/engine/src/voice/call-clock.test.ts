import { expect, it } from 'vitest'
import { CallClock } from './call-clock.ts'

it('a call clock places audio by the smallest delay observed', () => {
  const clock = new CallClock()
  expect(clock.offsetOf(5000)).toBe(null)
  clock.observe(1030, 160)
  clock.observe(1041, 320)
  clock.observe(1090, 480)
  expect(clock.timeOf(0)).toBe(1001)
  expect(clock.offsetOf(1501)).toBe(500)
  expect(clock.offsetOf(0)).toBe(0)
})

it('a call clock drops a smaller delay when it is ten seconds old', () => {
  const clock = new CallClock()
  // The first packet arrived late and set the origin; later packets show that the origin lies 18 ms later.
  clock.observe(1000, 0)
  for (let at = 20; at <= 4000; at += 20) clock.observe(1018 + at, at * 8)
  expect(clock.timeOf(0)).toBe(1000)
  for (let at = 4020; at <= 11_000; at += 20) clock.observe(1018 + at, at * 8)
  expect(clock.timeOf(0)).toBe(1018)
})
