import { describe, expect, it } from 'vitest'
import { type HedgeCause, hedge } from './hedge.ts'
import { HeldUpTime } from './testing/index.ts'

type Script = readonly (string | number | Error)[]

/** A step that waits for the abort. */
const UNTIL_ABORTED = 'end when aborted'

/** Attempts that yield texts, wait for numbers of ms, and throw errors. Resolves to the items, or the error's message. */
function hedged(scripts: readonly Script[], lateAfterMs = 1000) {
  const time = new HeldUpTime()
  const controller = new AbortController()
  const started: string[] = []
  const aborted: number[] = []
  async function* play(script: Script, number: number, signal: AbortSignal) {
    signal.addEventListener('abort', () => aborted.push(number))
    for (const step of script)
      if (step === UNTIL_ABORTED) await new Promise(resolve => signal.addEventListener('abort', resolve))
      else if (typeof step === 'number') await new Promise<void>(resolve => time.at(time.now() + step, resolve))
      else if (step instanceof Error) throw step
      else yield step
  }
  const items: string[] = []
  const done = (async () => {
    for await (const item of hedge<string>({
      start: (number, _cause, signal) => (scripts[number] === undefined ? null : play(scripts[number], number, signal)),
      lateAfterMs,
      time,
      signal: controller.signal,
      onHedge: (number: number, cause: HedgeCause) => started.push(`${time.now()} ${number} ${cause}`),
    }))
      items.push(item)
  })().catch((error: unknown) => items.push(`error ${(error as Error).message}`))
  return { time, controller, started, aborted, items, done }
}

async function run({ time }: { time: HeldUpTime }, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    time.advance(100)
  }
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

describe('a hedged request', () => {
  it('a hedged request has one attempt when the first item is in time', async () => {
    const race = hedged([[900, 'a', 5000, 'b'], ['x']])
    await run(race, 7000)
    expect([race.items, race.started]).toEqual([['a', 'b'], []])
  })

  it('a hedged request starts no other attempt because its process was held up', async () => {
    const race = hedged([[1200, 'a'], ['x']])
    await run(race, 500)
    race.time.holdUp(700)
    await run(race, 1000)
    expect([race.items, race.started]).toEqual([['a'], []])
  })

  it('a hedged request starts the next attempt when the first item is late, and aborts the loser', async () => {
    const race = hedged([
      [37_000, 'a'],
      [200, 'x', 'y'],
    ])
    await run(race, 2000)
    expect([race.items, race.started, race.aborted]).toEqual([['x', 'y'], ['1000 1 late'], [0, 1]])
  })

  it('the late attempt wins where it answers before the next one', async () => {
    const race = hedged([
      [1100, 'a'],
      [2000, 'x'],
    ])
    await run(race, 3000)
    expect(race.items).toEqual(['a'])
  })

  it('the winner continues when the loser ends after its abort', async () => {
    const race = hedged([[1100, 'a', 2000, 'b'], [UNTIL_ABORTED]])
    await run(race, 4000)
    expect([race.items, race.started]).toEqual([['a', 'b'], ['1000 1 late']])
  })

  it('a hedged request starts the next attempt at once when an attempt fails, and throws when all have failed', async () => {
    const race = hedged([[100, new Error('one')], ['x']])
    await run(race, 300)
    expect([race.items, race.started]).toEqual([['x'], ['100 1 failed']])
    const lost = hedged([[new Error('one')], [new Error('two')]])
    await run(lost, 300)
    expect(lost.items).toEqual(['error two'])
  })

  it('an error after the first item is thrown, and no other attempt is started', async () => {
    const race = hedged([['a', new Error('broken')], ['x']])
    await run(race, 300)
    expect([race.items, race.started]).toEqual([['a', 'error broken'], []])
  })

  it('a hedged request ends without an error when it is aborted', async () => {
    const race = hedged([
      [37_000, 'a'],
      [37_000, 'b'],
    ])
    await run(race, 1500)
    race.controller.abort()
    await run(race, 100)
    await race.done
    expect([race.items, race.aborted]).toEqual([[], [0, 1]])
  })
})
