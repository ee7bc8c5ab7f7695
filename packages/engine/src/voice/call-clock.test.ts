import { expect, it } from 'vitest'
import { CallClock } from './call-clock.ts'

it('takes the least delay ever seen for none', () => {
  const clock = new CallClock()
  expect(clock.offsetOf(5000)).toBe(null)
  clock.observe(1030, 160)
  clock.observe(1041, 320)
  clock.observe(1090, 480)
  expect(clock.timeOf(0)).toBe(1001)
  expect(clock.offsetOf(1501)).toBe(500)
  expect(clock.offsetOf(0)).toBe(0)
})

it('forgets a delay that was less than what there is now, when it is ten seconds old', () => {
  const clock = new CallClock()
  // The first packet came late and was placed by its arrival; then the rest turned out to lie 18 ms further on.
  clock.observe(1000, 0)
  for (let at = 20; at <= 4000; at += 20) clock.observe(1018 + at, at * 8)
  expect(clock.timeOf(0)).toBe(1000)
  for (let at = 4020; at <= 11_000; at += 20) clock.observe(1018 + at, at * 8)
  expect(clock.timeOf(0)).toBe(1018)
})
