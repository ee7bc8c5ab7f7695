import { type Ms, randomBelow, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { ModelPace } from './model-pace.ts'

/** The share of requests that are sent a second time, to a model that needs `firstEventMs` for its first event. */
function sentTwice(firstEventMs: () => Ms, requests = 2000): number {
  const pace = new ModelPace()
  let second = 0
  for (let i = 0; i < requests; i++) {
    const [late, ms] = [pace.lateAfter(800, 2000), firstEventMs()]
    if (ms <= late) pace.answered(ms)
    else {
      pace.hedged()
      second++
    }
  }
  return second / requests
}

describe('the pace of a model', () => {
  const random = new SeededRandom(1)

  it('a model that is always slow is asked twice in at most 8 of 100 requests', () => {
    expect(sentTwice(() => 100 + randomBelow(random, 1400))).toBeLessThan(0.08)
    expect(sentTwice(() => 1500)).toBeLessThan(0.08)
  })

  it('a model that takes longer than the latest time is asked again each time', () => {
    expect(sentTwice(() => 2500)).toBe(1)
  })

  it('a fast model that stalls in 5 of 100 requests is asked again in each of them after 0.8 s', () => {
    const pace = new ModelPace()
    const late: Ms[] = []
    for (let i = 0; i < 200; i++) {
      late.push(pace.lateAfter(800, 2000))
      if (i % 20 === 19) pace.hedged()
      else pace.answered(300)
    }
    expect(new Set(late)).toEqual(new Set([800]))
  })

  it('a model that has got faster is late sooner', () => {
    const pace = new ModelPace()
    for (let i = 0; i < 50; i++) pace.answered(1400)
    expect(pace.lateAfter(800, 2000)).toBe(1400)
    for (let i = 0; i < 50; i++) pace.answered(300)
    expect(pace.lateAfter(800, 2000)).toBe(800)
  })
})
