import { SeededRandom, VirtualTime } from '@parley/kernel'
import { beforeEach, describe, expect, it } from 'vitest'
import { JobCounters } from '../metrics.ts'
import { Sweep, type SweepOptions } from './sweep.ts'

let time: VirtualTime
let rounds: number[]
let troubles: string[]
let counters: JobCounters
beforeEach(() => {
  time = new VirtualTime()
  rounds = []
  troubles = []
  counters = new JobCounters()
})

function sweep(round: () => Promise<boolean>, options: Partial<SweepOptions> = {}): Sweep {
  return new Sweep({
    name: 'test',
    everyMs: 1000,
    time,
    random: new SeededRandom(7),
    counters,
    log: what => troubles.push(what),
    round: () => {
      rounds.push(time.now())
      return round()
    },
    ...options,
  })
}

/** Time passes, and promises get their turn in between. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    time.advance(1)
    for (let turn = 0; turn < 10; turn++) await null
  }
}

const pauses = () => rounds.slice(1).map((at, index) => at - rounds[index]!)

describe('a sweep', () => {
  it('a sweep runs repeatedly, the first time within a second', async () => {
    sweep(async () => false)
    await pass(5000)
    expect(rounds[0]).toBeLessThan(1000)
    expect(pauses()).toEqual([1000, 1000, 1000, 1000])
  })

  it('a sweep never runs two rounds at once, however long one takes', async () => {
    const done: (() => void)[] = []
    sweep(() => new Promise(resolve => done.push(() => resolve(false))))
    await pass(5000)
    expect(rounds).toHaveLength(1)
    done[0]!()
    await pass(1100)
    expect(rounds).toHaveLength(2)
  })

  it('a sweep runs again at once when a round left work', async () => {
    let left = 3
    sweep(async () => left-- > 0)
    await pass(1200)
    expect(
      pauses()
        .slice(0, 3)
        .every(pause => pause <= 1),
    ).toBe(true)
    expect(rounds).toHaveLength(4)
  })

  it('a sweep survives failed rounds, doubles its pause with each, and returns to its interval after a success', async () => {
    let failures = 7
    sweep(async () => {
      if (failures-- > 0) throw new Error('away')
      return false
    })
    await pass(120_000)
    expect(pauses().slice(0, 9)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000, 1000])
    expect(troubles).toEqual([
      'the sweep "test" failed',
      'the sweep "test" failed, 7 rounds by now',
      'the sweep "test" works again after 7 failed rounds, 91 s',
    ])
    expect(counters.read().sweep_failures).toBe(7)
  })

  it('a closing sweep finishes its current round and starts no other', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const one = sweep(() => promise)
    await pass(1000)
    let closed = false
    const closing = one.close().then(() => {
      closed = true
    })
    await pass(2000)
    expect(closed).toBe(false)
    resolve(true)
    await closing
    await pass(5000)
    expect(rounds).toHaveLength(1)
  })
})
