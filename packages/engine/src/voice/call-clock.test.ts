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
