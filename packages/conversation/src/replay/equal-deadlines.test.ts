import { type Ms, type Time, type Timer, VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { InputLogWriter, readInputLog } from './input-log.ts'
import { InputRecorder } from './input-recorder.ts'
import { InputReplay } from './input-replay.ts'
import type { Inputs } from './inputs.ts'

/** A clock that fires timers of one instant in the opposite order, as a real one may. */
class ReversingTime implements Time {
  readonly #time = new VirtualTime(1000)
  readonly #due = new Map<Ms, (() => void)[]>()

  now(): Ms {
    return this.#time.now()
  }

  at(deadline: Ms, callback: () => void): Timer {
    const due = this.#due.get(deadline)
    if (due !== undefined) due.unshift(callback)
    else {
      this.#due.set(deadline, [callback])
      this.#time.at(deadline, () => {
        const callbacks = this.#due.get(deadline)!
        while (callbacks.length > 0) callbacks.shift()!()
      })
    }
    return {
      cancel: () => {
        const left = this.#due.get(deadline)!
        if (left.includes(callback)) left.splice(left.indexOf(callback), 1)
      },
    }
  }

  advance(ms: Ms): void {
    this.#time.advance(ms)
  }
}

/** Three timers of one instant, one of which is cancelled, and one of a later instant. */
function armTimers(inputs: Inputs, fired: string[]): void {
  const arm = (name: string, deadline: Ms) =>
    inputs.time.at(deadline, () => {
      fired.push(name)
      inputs.decided(name)
    })
  arm('detection', 1500)
  const cancelled = arm('cancelled', 1500)
  arm('dialogue', 1500)
  arm('later', 1600)
  cancelled.cancel()
}

it('a replay fires timers of one instant in the order in which they were fired', async () => {
  const time = new ReversingTime()
  const start = { startedAtMs: time.now(), startedAt: 0, seed: 1 }
  const header = { ...start, code: 'c', lexicon: 'l', plan: 'p', kind: 'text', redacted: false, facts: null } as const
  const log = new InputLogWriter(header)
  const recorder = new InputRecorder({ ...start, log, time })
  const recorded: string[] = []
  armTimers(recorder, recorded)
  time.advance(700)
  recorder.close()
  expect(recorded).toEqual(['dialogue', 'detection', 'later'])

  const replay = new InputReplay(readInputLog(log.finish(1000)))
  const again: string[] = []
  armTimers(replay, again)
  expect(await replay.run()).toBeNull()
  expect(again).toEqual(recorded)
})
