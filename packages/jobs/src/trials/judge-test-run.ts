import type { Scope } from '@parley/contract'
import { caseVerdict, changeOf, runSummary, runVerdict } from '@parley/evaluation'
import { completeTestRun, judgeCases, type Queries, testRunProgress } from '@parley/store'

/**
 * Stores the verdicts of cases whose trials have all settled, and completes the test run when all have. The test run is locked until
 * the transaction ends.
 */
export async function judgeTestRun(tx: Queries, scope: Scope, testRunId: string): Promise<void> {
  const progress = await testRunProgress(tx, scope, testRunId)
  if (progress === null) return
  const { cases, has_baseline, guard_events } = progress
  const judged = cases.flatMap(({ place, blocking, verdict, verdicts, before, pass_policy }) => {
    const settled = verdicts.filter(one => one !== null)
    if (settled.length < verdicts.length) return []
    const own = verdict === 'invalid' ? { verdict, flaky: false } : caseVerdict(settled, pass_policy)
    return [{ ...own, place, blocking, change: has_baseline ? changeOf(before ?? undefined, own.verdict) : null }]
  })
  await judgeCases(tx, scope, testRunId, judged)
  if (judged.length < cases.length) return
  const trials = cases.reduce((sum, { verdicts }) => sum + verdicts.length, 0)
  await completeTestRun(tx, scope, testRunId, {
    verdict: runVerdict(judged),
    summary: runSummary(judged, { trials, guard_events }),
  })
}
