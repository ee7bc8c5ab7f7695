import type { TestCase } from '@parley/contract'

type TrialVerdict = 'passed' | 'failed' | 'errored'
export type CaseVerdict = TrialVerdict | 'invalid'
type CaseChange = 'regressed' | 'fixed' | 'same' | 'new'

/** The verdict of a case by those of all its trials. `flaky`: trials with a verdict differ. */
export function caseVerdict(
  verdicts: readonly TrialVerdict[],
  policy: TestCase['pass_policy'],
): { readonly verdict: TrialVerdict; readonly flaky: boolean } {
  const count = (of: TrialVerdict) => verdicts.filter(verdict => verdict === of).length
  const [passed, failed] = [count('passed'), count('failed')]
  const flaky = passed > 0 && failed > 0
  if (policy === 'all') {
    if (failed > 0) return { verdict: 'failed', flaky }
    return { verdict: passed === verdicts.length && passed > 0 ? 'passed' : 'errored', flaky }
  }
  if (2 * passed > verdicts.length) return { verdict: 'passed', flaky }
  return { verdict: 2 * failed >= verdicts.length && failed > 0 ? 'failed' : 'errored', flaky }
}

/** What changed against the same case of the baseline; `before` undefined: the baseline does not have it or gave no verdict. */
export function changeOf(before: CaseVerdict | undefined, now: CaseVerdict): CaseChange {
  if (before === undefined) return 'new'
  if (before === 'passed') return now === 'passed' ? 'same' : 'regressed'
  return now === 'passed' ? 'fixed' : 'same'
}

/** A case of a test run with its verdict. */
export interface JudgedCase {
  readonly blocking: boolean
  readonly verdict: CaseVerdict
  readonly flaky: boolean
  /** Null: there is no baseline. */
  readonly change: CaseChange | null
}

/** The verdict of a completed test run: only blocking cases count. */
export function runVerdict(cases: readonly JudgedCase[]): TrialVerdict {
  const blocking = cases.filter(one => one.blocking).map(({ verdict }) => verdict)
  if (blocking.includes('errored')) return 'errored'
  return blocking.some(verdict => verdict === 'failed' || verdict === 'invalid') ? 'failed' : 'passed'
}

/** Counts of a completed test run. */
export function runSummary(
  cases: readonly JudgedCase[],
  counted: { readonly trials: number; readonly guard_events: number },
) {
  const count = (holds: (one: JudgedCase) => boolean) => cases.filter(holds).length
  return {
    cases: cases.length,
    passed: count(({ verdict }) => verdict === 'passed'),
    flaky_passed: count(({ verdict, flaky }) => verdict === 'passed' && flaky),
    failed: count(({ verdict }) => verdict === 'failed'),
    errored: count(({ verdict }) => verdict === 'errored'),
    invalid: count(({ verdict }) => verdict === 'invalid'),
    trials: counted.trials,
    regressed: count(({ change }) => change === 'regressed'),
    fixed: count(({ change }) => change === 'fixed'),
    guard_events: counted.guard_events,
  }
}
