import { type Ms, type Random, randomUint32 } from '@parley/kernel'
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
  /**
   * Index of the step to which calls count that begin in this stage. Those of a ramp to a number of calls at once are the calls of
   * its step; those of a ramp of rates are over before it (null).
   */
  readonly callsOf: number | null
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
    const hold: LoadStage = { quantity, from: to, to, durationMs: hold_s * 1000, step, callsOf: step }
    const callsOf = quantity === 'calls' ? step : null
    const from = values[step - 1] ?? 0
    const ramp: LoadStage = { quantity, from, to, durationMs: ramp_s * 1000, step: null, callsOf }
    return ramp_s === 0 ? [hold] : [ramp, hold]
  })
}

/** After a stall of the process, the calls that were due in this time are begun late; older ones are left out. */
const MOST_CATCH_UP_MS: Ms = 1000

/**
 * A caller who was not answered comes back this long after the call began, then after twice as long each time: a target that refuses
 * because it is overloaded would otherwise be called again as fast as the generator can, and not recover. Each wait is up to twice as
 * long at random, so that callers who were refused together do not come back together.
 */
const FIRST_RETRY_MS: Ms = 1000

/** A call that was not answered. */
interface UnansweredCall {
  readonly begunAt: Ms
  /** How many calls of this caller in a row were not answered before. */
  readonly retry: number
  /** Shortest wait that the target asked for (RFC 3261 section 20.33); 0: none. */
  readonly retryAfterMs: Ms
}

interface ArrivalOptions {
  /** The process takes every `of`-th call of the fleet, beginning with the `index`-th. */
  readonly index: number
  readonly of: number
  /** Longest wait of a caller who was not answered. */
  readonly mostRetryMs: Ms
  readonly random: Random
}

/** Decides when one process of the fleet begins calls. Times are on any one clock. */
export class Arrivals {
  readonly #options: ArrivalOptions
  #stage: LoadStage | null = null
  #stageAt: Ms = 0
  /** Calls that the fleet should have begun by now at the rate of the stage and that were not counted yet; with a fraction. */
  #due = 0
  #checkedAt: Ms = 0
  /** Number of the next call of the fleet, from 0. */
  #nextCall = 0
  /** Callers who were not answered and who wait, each of whom counts as a live call. `retry`: that of their next call. */
  #waiting: { readonly until: Ms; readonly retry: number }[] = []
  /** Callers whose wait is over. */
  #back: number[] = []

  constructor(options: ArrivalOptions) {
    this.#options = options
  }

  /** Callers who were not answered and wait before they call again. */
  get waiting(): number {
    return this.#waiting.length
  }

  begin(now: Ms, stage: LoadStage): void {
    this.#stage = stage
    this.#stageAt = now
    this.#checkedAt = now
  }

  stop(): void {
    this.#stage = null
    this.#waiting = []
  }

  /** A call ended without an answer. Without a number of calls at once nobody comes back: the rate says who calls. */
  notAnswered({ begunAt, retry, retryAfterMs }: UnansweredCall): void {
    if (this.#stage?.quantity !== 'calls') return
    const { mostRetryMs, random } = this.#options
    const atLeast = Math.max(retryAfterMs, FIRST_RETRY_MS * 2 ** retry)
    const wait = atLeast * (1 + randomUint32(random) / 2 ** 32)
    this.#waiting.push({ until: begunAt + Math.min(mostRetryMs, wait), retry: retry + 1 })
  }

  /** The calls that this process begins now: for each how many calls of its caller in a row were not answered. `live`: current calls. */
  take(now: Ms, live: number): readonly number[] {
    const stage = this.#stage
    if (stage === null) return []
    if (stage.quantity === 'per_second') return Array.from({ length: this.#takeOfRate(stage, now) }, () => 0)
    for (const { until, retry } of this.#waiting) if (until <= now) this.#back.push(retry)
    this.#waiting = this.#waiting.filter(({ until }) => until > now)
    const free = Math.max(0, this.#share(this.#value(stage, now)) - live - this.#waiting.length)
    const back = this.#back.splice(0, free)
    return [...back, ...Array.from({ length: free - back.length }, () => 0)]
  }

  #takeOfRate(stage: LoadStage, now: Ms): number {
    const since = Math.max(this.#checkedAt, now - MOST_CATCH_UP_MS)
    this.#due += ((this.#value(stage, since) + this.#value(stage, now)) / 2) * ((now - since) / 1000)
    this.#checkedAt = now
    let taken = 0
    const { index, of } = this.#options
    for (; this.#due >= 1; this.#due--) if (this.#nextCall++ % of === index) taken++
    return taken
  }

  /** This process's part of a number of calls. */
  #share(calls: number): number {
    const { index, of } = this.#options
    const whole = Math.round(calls)
    return Math.floor(whole / of) + (whole % of > index ? 1 : 0)
  }

  #value({ from, to, durationMs }: LoadStage, now: Ms): number {
    const share = durationMs === 0 ? 1 : Math.min(1, Math.max(0, (now - this.#stageAt) / durationMs))
    return from + (to - from) * share
  }
}
