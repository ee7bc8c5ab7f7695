import { describe, expect, it } from 'vitest'
import { StreamClock } from './stream-clock.ts'

describe('the clock of a stream to a service', () => {
  it('the clock of a stream to a service maps positions of the gapless stream to positions of the call', () => {
    const clock = new StreamClock()
    clock.append(28_800_000, 160)
    clock.append(28_800_160, 160)
    expect(clock.toClock(0)).toBe(28_800_000)
    expect(clock.toClock(200.4)).toBe(28_800_200)
  })

  it('accounts for gaps and for jumps back', () => {
    const clock = new StreamClock()
    clock.append(1000, 100)
    clock.append(5000, 100)
    clock.append(4900, 100)
    expect([50, 99, 100, 199, 200, 299].map(at => clock.toClock(at))).toEqual([1050, 1099, 5000, 5099, 4900, 4999])
  })

  it('the clock of a stream to a service limits impossible times to the audio that was sent', () => {
    const clock = new StreamClock()
    expect(clock.toClock(7)).toBe(0)
    clock.append(1000, 100)
    expect([-5, 1e12].map(at => clock.toClock(at))).toEqual([1000, 1100])
  })

  it('the clock of a stream to a service remembers a bounded number of gaps, the latest exactly', () => {
    const clock = new StreamClock()
    for (let i = 0; i < 1000; i++) clock.append(i * 1000, 10)
    expect(clock.toClock(9995)).toBe(999_005)
    expect(clock.toClock(0)).toBeGreaterThan(0)
  })
})
