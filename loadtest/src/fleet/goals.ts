import type { CallFigures } from './results.ts'
import type { Goals } from './scenario.ts'

export interface MissedGoal {
  readonly goal: keyof Goals
  readonly limit: number
  /** Null: nothing was measured, which misses a goal as well. */
  readonly measured: number | null
}

interface JudgedStep {
  readonly figures: CallFigures
  /** Share of the calls that the load asked for and that began. */
  readonly begunPercent: number
}

/** The goals that the calls of a step, or of a whole run, miss. */
export function missedGoals({ figures, begunPercent }: JudgedStep, goals: Goals): MissedGoal[] {
  const measured: Record<keyof Goals, number | null> = {
    failed_percent: figures.calls === 0 ? null : (100 * figures.failed) / figures.calls,
    setup_p50_ms: figures.setup_ms.p50,
    setup_p99_ms: figures.setup_ms.p99,
    reply_p50_ms: figures.reply_ms.p50,
    reply_p95_ms: figures.reply_ms.p95,
    reply_p99_ms: figures.reply_ms.p99,
    jitter_p99_ms: figures.jitter_max_ms.p99,
    begun_percent: begunPercent,
  }
  return (Object.keys(measured) as (keyof Goals)[]).flatMap(goal => {
    const limit = goals[goal]
    if (limit === undefined) return []
    const value = measured[goal]
    const isMet = value !== null && (goal === 'begun_percent' ? value >= limit : value <= limit)
    return isMet ? [] : [{ goal, limit, measured: value === null ? null : Math.round(value * 100) / 100 }]
  })
}

/** The result of one step. */
export interface StepResult {
  readonly value: number
  readonly missed: readonly MissedGoal[]
  /** The generator was late in this step: what it measured may be its own doing. */
  readonly generatorLate: boolean
  /** p99.9 of the lateness of the packets that the generator sent in this step, ms. */
  readonly generatorLateP999Ms: number
}

/** What the steps of a load say about the target. */
export type BreakingPoint =
  | { readonly kind: 'held'; readonly held: number }
  /** `held`: the last value whose goals were met; null: not even the first. */
  | { readonly kind: 'broke'; readonly held: number | null; readonly broke: number; readonly by: readonly MissedGoal[] }
  /** A goal was missed while the generator itself was late: the fleet broke, not the target. */
  | { readonly kind: 'generator-late'; readonly held: number | null; readonly at: number }

export function breakingPoint(steps: readonly StepResult[]): BreakingPoint | null {
  let held: number | null = null
  for (const { value, missed, generatorLate } of steps) {
    if (missed.length > 0 && generatorLate) return { kind: 'generator-late', held, at: value }
    if (missed.length > 0) return { kind: 'broke', held, broke: value, by: missed }
    held = value
  }
  return held === null ? null : { kind: 'held', held }
}

const UNITS = { calls: 'calls at once', per_second: 'calls a second' } as const

/** The breaking point as a sentence. */
export function describeBreakingPoint(point: BreakingPoint, quantity: keyof typeof UNITS): string {
  const unit = UNITS[quantity]
  const below = (held: number | null) => (held === null ? 'no step held' : `${held} ${unit} held`)
  if (point.kind === 'held') return `The target held ${point.held} ${unit}, the highest step.`
  if (point.kind === 'generator-late')
    return `The generator was late at ${point.at} ${unit}, so that the target’s limit is not known; ${below(point.held)}.`
  const goals = point.by.map(
    ({ goal, limit, measured }) => `${goal} was ${measured ?? 'not measured'}, the goal is ${limit}`,
  )
  return `The target broke at ${point.broke} ${unit} (${goals.join('; ')}); ${below(point.held)}.`
}
