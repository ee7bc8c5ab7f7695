import { type Random, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { Arrivals, type LoadStage, loadStages } from './load-stages.ts'
import { readScenario } from './scenario.ts'

const caller = '{ name: a, caller: { kind: script, steps: [{ says: Hello. }] } }'
const scenario = (load: string) => readScenario(`{ name: test, callers: [${caller}], load: ${load} }`)

const AT_ONCE: LoadStage = { quantity: 'calls', from: 1, to: 1, durationMs: 1e6, step: 0, callsOf: 0 }
/** Draws 0: waits are not spread. */
const EVEN: Random = { bytes: length => new Uint8Array(length) }

function arrivalsOf(options: Partial<ConstructorParameters<typeof Arrivals>[0]> = {}): Arrivals {
  return new Arrivals({ index: 0, of: 1, mostRetryMs: 32_000, random: EVEN, ...options })
}

/** Seconds at which a single caller calls a target that refuses it at once. */
function callsOfRefused(arrivals: Arrivals, lastsMs: number, retryAfterMs = 0): number[] {
  arrivals.begin(0, AT_ONCE)
  const calls: number[] = []
  for (let begunAt = 0; begunAt <= lastsMs; begunAt += 10)
    for (const retry of arrivals.take(begunAt, 0)) {
      arrivals.notAnswered({ begunAt, retry, retryAfterMs })
      calls.push(Math.round(begunAt / 1000))
    }
  return calls
}

/** Calls begun in every second of a stage, by all processes; `lastsMs`: how long a call lasts. */
function begun(stage: LoadStage, processes: number, lastsMs: number): number[][] {
  return Array.from({ length: processes }, (_, index) => {
    const arrivals = arrivalsOf({ index, of: processes })
    arrivals.begin(0, stage)
    const ends: number[] = []
    const perSecond: number[] = []
    for (let now = 10; now <= stage.durationMs; now += 10) {
      const live = ends.filter(end => end > now).length
      const taken = arrivals.take(now, live).length
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
      { quantity: 'calls', from: 0, to: 10, durationMs: 5000, step: null, callsOf: 0 },
      { quantity: 'calls', from: 10, to: 10, durationMs: 30_000, step: 0, callsOf: 0 },
      { quantity: 'calls', from: 10, to: 20, durationMs: 5000, step: null, callsOf: 1 },
      { quantity: 'calls', from: 20, to: 20, durationMs: 30_000, step: 1, callsOf: 1 },
    ])
    expect(loadStages(scenario('{ per_second: 5, hold_s: 30 }'))).toHaveLength(1)
    const [ramp] = loadStages(scenario('{ per_second: 5, ramp_s: 5, hold_s: 30 }'))
    expect(ramp).toMatchObject({ step: null, callsOf: null })
  })

  it('a rate is shared by the processes of the fleet', () => {
    const stage: LoadStage = { quantity: 'per_second', from: 50, to: 50, durationMs: 10_000, step: 0, callsOf: 0 }
    const counts = begun(stage, 3, 100)
    const whole = counts[0]!.map((_, second) => counts.reduce((sum, own) => sum + own[second]!, 0))
    expect(whole.every(count => Math.abs(count - 50) <= 1)).toBe(true)
    expect(counts.map(own => own.reduce((a, b) => a + b))).toEqual([167, 167, 166])
  })

  it('a rate grows evenly in a ramp', () => {
    const stage: LoadStage = { quantity: 'per_second', from: 0, to: 100, durationMs: 10_000, step: null, callsOf: null }
    const [counts] = begun(stage, 1, 100)
    expect(counts!.map(count => Math.round(count / 10))).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(n => Math.round(n - 0.5)),
    )
  })

  it('a number of calls at once is kept, and a call that ends is replaced', () => {
    const stage: LoadStage = { quantity: 'calls', from: 10, to: 10, durationMs: 5000, step: 0, callsOf: 0 }
    const counts = begun(stage, 3, 1000)
    expect(counts.map(own => own[0])).toEqual([4, 3, 3])
    expect(counts.map(own => own.reduce((a, b) => a + b))).toEqual([20, 15, 15])
  })

  it('a caller who is refused again and again comes back after 1, 2, 4, 8 and 16 s, and then every 32 s', () => {
    expect(callsOfRefused(arrivalsOf(), 130_000)).toEqual([0, 1, 3, 7, 15, 31, 63, 95, 127])
    const everySecond = arrivalsOf({ mostRetryMs: 1000 })
    expect(callsOfRefused(everySecond, 5500)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('a caller does not come back before the time that the target asked for, unless the scenario allows less', () => {
    expect(callsOfRefused(arrivalsOf(), 25_000, 5000)).toEqual([0, 5, 10, 15, 23])
    expect(callsOfRefused(arrivalsOf({ mostRetryMs: 2000 }), 5500, 60_000)).toEqual([0, 2, 4])
  })

  it('callers who were refused together come back at different times', () => {
    const arrivals = arrivalsOf({ random: new SeededRandom(1) })
    arrivals.begin(0, { ...AT_ONCE, from: 100, to: 100 })
    for (const retry of arrivals.take(0, 0)) arrivals.notAnswered({ begunAt: 0, retry, retryAfterMs: 0 })
    const back: number[] = []
    for (let now = 0, live = 0; now <= 2000; now += 50) {
      back.push(arrivals.take(now, live).length)
      live += back.at(-1)!
    }
    expect(Math.max(...back)).toBeLessThan(50)
    expect(back.reduce((a, b) => a + b)).toBe(100)
  })

  it('a target that takes 50 new calls a second and refuses all while it gets more has 300 calls at once within a minute', () => {
    const arrivals = arrivalsOf({ random: new SeededRandom(2) })
    arrivals.begin(0, { ...AT_ONCE, from: 300, to: 300 })
    let live = 0
    let waits = 0
    for (let second = 0; second < 60; second++) {
      const attempts: { readonly begunAt: number; readonly retry: number }[] = []
      for (let begunAt = 1000 * second; begunAt < 1000 * (second + 1); begunAt += 10)
        for (const retry of arrivals.take(begunAt, live + attempts.length)) attempts.push({ begunAt, retry })
      const isOverloaded = attempts.length > 50
      if (!isOverloaded) live += attempts.length
      else for (const attempt of attempts) arrivals.notAnswered({ ...attempt, retryAfterMs: 0 })
      waits = Math.max(waits, arrivals.waiting)
    }
    expect(waits).toBe(300)
    expect(live).toBe(300)
  })

  it('calls that a stalled process missed for longer than a second are left out', () => {
    const arrivals = arrivalsOf()
    arrivals.begin(0, { quantity: 'per_second', from: 10, to: 10, durationMs: 60_000, step: 0, callsOf: 0 })
    expect(arrivals.take(30_000, 0)).toHaveLength(10)
  })
})
