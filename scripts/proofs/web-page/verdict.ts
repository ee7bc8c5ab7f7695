import { interruptions, turnGaps } from '../../../interop/page-levels.ts'
import type { PageLog } from '../../../interop/page-probe.ts'

/** The agent stops within this time: the goal of the median. */
const STOPPED_MS = 300
/** Answers reach the page this much later than the phone, at most (median). */
const LATER_MS = 400

/** What one end of the calls measured, ms. */
interface EndMeasures {
  readonly stopped_p50_ms: number
  readonly stopped_ms: readonly number[]
  readonly answered_p50_ms: number
  readonly answered_ms: readonly number[]
}

export function measuresOf(levels: PageLog['levels']): EndMeasures {
  const stopped_ms = interruptions(levels).map(Math.round)
  const answered_ms = turnGaps(levels).map(Math.round)
  return { stopped_p50_ms: median(stopped_ms), stopped_ms, answered_p50_ms: median(answered_ms), answered_ms }
}

/** What is wrong with calls of `count` sentences in a page and on a phone; empty: nothing. */
export function faultsOf(
  { page, phone }: { readonly page: EndMeasures; readonly phone: EndMeasures },
  count: number,
): readonly string[] {
  const tooFew = ({ stopped_ms, answered_ms }: EndMeasures) =>
    Math.min(stopped_ms.length, answered_ms.length) < count / 2
  const later = page.answered_p50_ms - phone.answered_p50_ms
  return [
    ...Object.entries({ page, phone }).flatMap(([end, measures]) =>
      tooFew(measures) ? [`the ${end} measured less than half of ${count} sentences`] : [],
    ),
    ...(page.stopped_p50_ms <= STOPPED_MS ? [] : [`in the page the agent stopped after ${page.stopped_p50_ms} ms`]),
    ...(later <= LATER_MS ? [] : [`answers reach the page ${later} ms later than the phone`]),
  ]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
