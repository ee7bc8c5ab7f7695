import { describe, expect, it } from 'vitest'
import { Arrivals, type LoadStage, loadStages } from './load-stages.ts'
import { readScenario } from './scenario.ts'

const caller = '{ name: a, caller: { kind: script, steps: [{ says: Hello. }] } }'
const scenario = (load: string) => readScenario(`{ name: test, callers: [${caller}], load: ${load} }`)

/** Calls begun in every second of a stage, by all processes; `lastsMs`: how long a call lasts. */
function begun(stage: LoadStage, processes: number, lastsMs: number): number[][] {
  return Array.from({ length: processes }, (_, index) => {
    const arrivals = new Arrivals(index, processes)
    arrivals.begin(0, stage)
    const ends: number[] = []
    const perSecond: number[] = []
    for (let now = 10; now <= stage.durationMs; now += 10) {
      const live = ends.filter(end => end > now).length
      const taken = arrivals.take(now, live)
      for (let i = 0; i < taken; i++) ends.push(now + lastsMs)
      const second = Math.ceil(now / 1000) - 1
      perSecond[second] = (perSecond[second] ?? 0) + taken
    }
    return perSecond
  })
}

describe('the load of a fleet', () => {
  it('a ramp leads to each step, and the steps are judged', () => {
    expect(loadStages(scenario('{ calls: [10, 20], ramp_s: 5, hold_s: 30 }'))).toEqual([
      { quantity: 'calls', from: 0, to: 10, durationMs: 5000, step: null },
      { quantity: 'calls', from: 10, to: 10, durationMs: 30_000, step: 0 },
      { quantity: 'calls', from: 10, to: 20, durationMs: 5000, step: null },
      { quantity: 'calls', from: 20, to: 20, durationMs: 30_000, step: 1 },
    ])
    expect(loadStages(scenario('{ per_second: 5, hold_s: 30 }'))).toHaveLength(1)
  })

  it('a rate is shared by the processes of the fleet', () => {
    const stage: LoadStage = { quantity: 'per_second', from: 50, to: 50, durationMs: 10_000, step: 0 }
    const counts = begun(stage, 3, 100)
    const whole = counts[0]!.map((_, second) => counts.reduce((sum, own) => sum + own[second]!, 0))
    expect(whole.every(count => Math.abs(count - 50) <= 1)).toBe(true)
    expect(counts.map(own => own.reduce((a, b) => a + b))).toEqual([167, 167, 166])
  })

  it('a rate grows evenly in a ramp', () => {
    const stage: LoadStage = { quantity: 'per_second', from: 0, to: 100, durationMs: 10_000, step: null }
    const [counts] = begun(stage, 1, 100)
    expect(counts!.map(count => Math.round(count / 10))).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(n => Math.round(n - 0.5)),
    )
  })

  it('a number of calls at once is kept, and a call that ends is replaced', () => {
    const stage: LoadStage = { quantity: 'calls', from: 10, to: 10, durationMs: 5000, step: 0 }
    const counts = begun(stage, 3, 1000)
    expect(counts.map(own => own[0])).toEqual([4, 3, 3])
    expect(counts.map(own => own.reduce((a, b) => a + b))).toEqual([20, 15, 15])
  })

  it('a target that refuses every call at once is called once a second for each place', () => {
    const arrivals = new Arrivals(0, 1)
    arrivals.begin(0, { quantity: 'calls', from: 10, to: 10, durationMs: 5000, step: 0 })
    let calls = 0
    for (let now = 10; now <= 5000; now += 10) {
      const taken = arrivals.take(now, 0)
      for (let i = 0; i < taken; i++) arrivals.notAnswered(now)
      calls += taken
    }
    expect(calls).toBe(50)
  })

  it('calls that a stalled process missed for longer than a second are left out', () => {
    const arrivals = new Arrivals(0, 1)
    arrivals.begin(0, { quantity: 'per_second', from: 10, to: 10, durationMs: 60_000, step: 0 })
    expect(arrivals.take(30_000, 0)).toBe(10)
  })
})
