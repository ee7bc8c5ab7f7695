import type { AnswerClass } from '@parley/dialogue'
import { isMachine } from '@parley/dialogue/testing'
import { quantile } from '../quantile.ts'
import type { Judgement } from './judge.ts'

/** One judged call. `firstSoundMs`: since the answer; null: the line stayed silent. */
export interface JudgedRow {
  readonly class: AnswerClass
  readonly firstSoundMs: number | null
  readonly judgement: Judgement
}

/** A share with its 95 % interval by Wilson. */
interface Share {
  readonly share: number
  readonly low: number
  readonly high: number
  readonly of: number
}

const Z = 1.96

export function wilson(hits: number, of: number): Share {
  if (of === 0) return { share: 0, low: 0, high: 1, of }
  const p = hits / of
  const centre = (p + Z ** 2 / (2 * of)) / (1 + Z ** 2 / of)
  const half = (Z / (1 + Z ** 2 / of)) * Math.sqrt((p * (1 - p)) / of + Z ** 2 / (4 * of ** 2))
  const round = (value: number) => Math.round(value * 10_000) / 10_000
  return { share: round(p), low: round(Math.max(0, centre - half)), high: round(Math.min(1, centre + half)), of }
}

/** Machines that are no screeners. */
export function isPlainMachine(name: AnswerClass): boolean {
  return isMachine(name) && name !== 'screener'
}

/** The verdict that holds at the end; null: none. */
export function finalClass({ verdicts }: Judgement): AnswerClass | null {
  return verdicts.at(-1)?.verdict.class ?? null
}

/** When the first verdict of a machine came, ms since the answer; null: never. An announcement is known before the answer at best. */
export function machineAt({ verdicts }: Judgement): number | null {
  const found = verdicts.find(({ verdict }) => isMachine(verdict.class))
  return found === undefined ? null : Math.max(0, found.atMs)
}

export function figuresOf(rows: readonly JudgedRow[]) {
  const people = rows.filter(row => row.class === 'human')
  const machines = rows.filter(row => isPlainMachine(row.class))
  const screeners = rows.filter(row => row.class === 'screener')
  const found = machines.filter(
    row => machineAt(row.judgement) !== null && isMachine(finalClass(row.judgement) ?? 'human'),
  )
  const times = found.map(row => machineAt(row.judgement)!)
  const fromSound = found.flatMap(row =>
    row.firstSoundMs === null ? [] : [Math.max(0, machineAt(row.judgement)! - row.firstSoundMs)],
  )
  const lost = people.filter(row => machineAt(row.judgement) !== null)
  const added = people.map(({ judgement: { beginMs, beginWithDetectionMs } }) =>
    beginMs === null ? 0 : (beginWithDetectionMs ?? 60_000) - beginMs,
  )
  const at = (values: readonly number[], q: number) => (values.length === 0 ? null : Math.round(quantile(values, q)))
  return {
    calls: rows.length,
    machine_recall: wilson(found.length, machines.length),
    humans_lost: wilson(lost.length, people.length),
    humans_found: wilson(people.filter(row => finalClass(row.judgement) === 'human').length, people.length),
    screener_recall: wilson(screeners.filter(row => finalClass(row.judgement) === 'screener').length, screeners.length),
    verdict_p50_ms: at(times, 0.5),
    verdict_p95_ms: at(times, 0.95),
    verdict_from_sound_p50_ms: at(fromSound, 0.5),
    verdict_from_sound_p95_ms: at(fromSound, 0.95),
    added_p50_ms: at(added, 0.5),
    added_p95_ms: at(added, 0.95),
  }
}

/** Rows: what answered; columns: the last verdict. */
export function confusionOf(rows: readonly JudgedRow[]): Record<string, Record<string, number>> {
  const matrix: Record<string, Record<string, number>> = {}
  for (const row of rows) {
    const found = finalClass(row.judgement) ?? 'undecided'
    const line = matrix[row.class] ?? {}
    line[found] = (line[found] ?? 0) + 1
    matrix[row.class] = line
  }
  return matrix
}
