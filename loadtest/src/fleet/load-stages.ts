import type { Ms } from '@parley/kernel'
import type { Scenario } from './scenario.ts'

export type LoadQuantity = 'calls' | 'per_second'

/** A period in which the load grows from one value to another or stays the same. */
export interface LoadStage {
  readonly quantity: LoadQuantity
  readonly from: number
  readonly to: number
  readonly durationMs: Ms
  /** Index of the step that is judged after this stage; null: a ramp. */
  readonly step: number | null
}

/** The load of each step: simultaneous calls, or calls per second. */
export function stepValues({ load }: Pick<Scenario, 'load'>): {
  readonly quantity: LoadQuantity
  readonly values: readonly number[]
} {
  const quantity = load.calls === undefined ? 'per_second' : 'calls'
  const values = load.calls ?? load.per_second ?? 0
  return { quantity, values: typeof values === 'number' ? [values] : values }
}

export function loadStages(scenario: Pick<Scenario, 'load'>): readonly LoadStage[] {
  const { ramp_s, hold_s } = scenario.load
  const { quantity, values } = stepValues(scenario)
  return values.flatMap((to, step) => {
    const hold: LoadStage = { quantity, from: to, to, durationMs: hold_s * 1000, step }
    const ramp: LoadStage = { quantity, from: values[step - 1] ?? 0, to, durationMs: ramp_s * 1000, step: null }
    return ramp_s === 0 ? [hold] : [ramp, hold]
  })
}

/** After a stall of the process, the calls that were due in this time are begun late; older ones are left out. */
const MOST_CATCH_UP_MS: Ms = 1000

/**
 * A call that was not answered is replaced no sooner than this long after it began: a target that refuses at once would otherwise be
 * called as fast as the generator can.
 */
const REPLACE_UNANSWERED_MS: Ms = 1000

/**
 * Decides when one process of the fleet begins calls. Times are on any one clock. The process takes every `of`-th call of the
 * fleet, beginning with the `index`-th.
 */
export class Arrivals {
  readonly #index: number
  readonly #of: number
  #stage: LoadStage | null = null
  #stageAt: Ms = 0
  /** Calls that the fleet should have begun by now at the rate of the stage and that were not counted yet; with a fraction. */
  #due = 0
  #checkedAt: Ms = 0
  /** Number of the next call of the fleet, from 0. */
  #nextCall = 0
  /** Until when each call that was not answered counts as live, so that it is not replaced at once. */
  #blockedUntil: Ms[] = []

  constructor(index: number, of: number) {
    this.#index = index
    this.#of = of
  }

  begin(now: Ms, stage: LoadStage): void {
    this.#stage = stage
    this.#stageAt = now
    this.#checkedAt = now
  }

  stop(): void {
    this.#stage = null
  }

  /** A call that began at this time ended without an answer. */
  notAnswered(begunAt: Ms): void {
    this.#blockedUntil.push(begunAt + REPLACE_UNANSWERED_MS)
  }

  /** How many calls this process begins now. `live`: its current calls. */
  take(now: Ms, live: number): number {
    this.#blockedUntil = this.#blockedUntil.filter(until => until > now)
    const stage = this.#stage
    if (stage === null) return 0
    if (stage.quantity === 'calls')
      return Math.max(0, this.#share(this.#value(stage, now)) - live - this.#blockedUntil.length)
    const since = Math.max(this.#checkedAt, now - MOST_CATCH_UP_MS)
    this.#due += ((this.#value(stage, since) + this.#value(stage, now)) / 2) * ((now - since) / 1000)
    this.#checkedAt = now
    let taken = 0
    for (; this.#due >= 1; this.#due--) if (this.#nextCall++ % this.#of === this.#index) taken++
    return taken
  }

  /** This process's part of a number of calls. */
  #share(calls: number): number {
    const whole = Math.round(calls)
    return Math.floor(whole / this.#of) + (whole % this.#of > this.#index ? 1 : 0)
  }

  #value({ from, to, durationMs }: LoadStage, now: Ms): number {
    const share = durationMs === 0 ? 1 : Math.min(1, Math.max(0, (now - this.#stageAt) / durationMs))
    return from + (to - from) * share
  }
}
