import { type Ms, type Time, type Timer, VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { CallRates } from './call-rate.ts'

/** Virtual time whose timers can come late, as after a stall of the process. */
class StallingTime implements Time {
  readonly #virtual = new VirtualTime()
  #stalledMs = 0

  now(): Ms {
    return this.#virtual.now() + this.#stalledMs
  }

  at(deadline: Ms, callback: () => void): Timer {
    return this.#virtual.at(deadline - this.#stalledMs, callback)
  }

  advance(ms: Ms): void {
    this.#virtual.advance(ms)
  }

  stall(ms: Ms): void {
    this.#stalledMs += ms
  }
}

function bench(maxWaiting?: number) {
  const time = new StallingTime()
  const rates = new CallRates({ time, ...(maxWaiting && { maxWaiting }) })
  const left: { call: string; at: number }[] = []
  const failed: string[] = []
  const take = (call: string, callsPerSecond: number, name = 'carrier') =>
    rates.take({ name, callsPerSecond }).then(
      () => left.push({ call, at: time.now() }),
      error => failed.push(`${call} ${error.code ?? error.name}`),
    )
  /** In steps, so that promises settle at the virtual time at which they were resolved. */
  const advance = async (ms: number) => {
    for (let i = 0; i <= ms; i++) {
      for (let settling = 0; settling < 4; settling++) await Promise.resolve()
      if (i < ms) time.advance(1)
    }
  }
  return { time, rates, left, failed, take, advance }
}

describe('calls per second of a trunk', () => {
  it('are never exceeded in any second, and calls leave in the order of asking', async () => {
    const { left, take, advance } = bench()
    for (let i = 0; i < 40; i++) void take(String(i), 20)
    await advance(500)
    for (let i = 40; i < 80; i++) void take(String(i), 20)
    await advance(4_000)
    expect(left.map(({ call }) => Number(call))).toEqual(Array.from({ length: 80 }, (_, i) => i))
    for (const { at } of left)
      expect(left.filter(other => other.at >= at && other.at < at + 999).length).toBeLessThanOrEqual(20)
    expect(left.at(-1)!.at - left[0]!.at).toBeLessThan(4_050)
  })

  it('are not made up for after a stall', async () => {
    const { time, left, take, advance } = bench()
    for (let i = 0; i < 10; i++) void take(String(i), 10)
    await advance(150)
    time.stall(500)
    await advance(1_000)
    expect(left.map(({ at }) => at)).toEqual([0, 100, 700, 800, 900, 1000, 1100, 1200, 1300, 1400])
  })

  it('of one trunk do not slow another', async () => {
    const { left, take, advance } = bench()
    void take('a', 0.5, 'slow')
    void take('b', 0.5, 'slow')
    void take('c', 0.5, 'other')
    await advance(10)
    expect(left.map(({ call }) => call)).toEqual(['a', 'c'])
    await advance(2_000)
    expect(left.map(({ call }) => call)).toEqual(['a', 'c', 'b'])
  })

  it('fail at once when too many wait, or when everything ends', async () => {
    const { rates, failed, take, advance } = bench(2)
    for (const call of ['a', 'b', 'c', 'd']) void take(call, 1)
    await advance(1)
    expect(failed).toEqual(['d call_rate_exceeded'])
    expect(rates.waiting).toBe(2)
    rates.stop()
    await advance(1)
    expect(failed).toEqual(['d call_rate_exceeded', 'b shutdown', 'c shutdown'])
    for (const bad of [0, -1, Number.NaN, 1e9]) await take(`bad ${bad}`, bad)
    expect(failed.slice(3)).toEqual([
      'bad 0 RangeError',
      'bad -1 RangeError',
      'bad NaN RangeError',
      'bad 1000000000 RangeError',
    ])
  })
})
