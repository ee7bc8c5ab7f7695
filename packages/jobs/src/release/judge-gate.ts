import type { Scope } from '@parley/contract'
import {
  caseVerdict,
  changeOf,
  type GateOutcome,
  type GateStanding,
  gateEvidence,
  gateOutcome,
  pairCount,
  runSummary,
  scheduledPairs,
  withPair,
} from '@parley/evaluation'
import {
  cancelOpenTrials,
  cancelTestRuns,
  comparedCases,
  completeTestRun,
  type GateProgress,
  gateProgress,
  insertPairs,
  judgeCases,
  type Queries,
  settledPairs,
  writeGateProgress,
} from '@parley/store'

/** Pairs that have trials ahead of those that were counted: enough to keep four trials under way. */
const PAIRS_AHEAD = 6

/**
 * Counts the trials of a gate that have ended. When they decide, the test run is completed; otherwise more trials are added. The
 * test run is locked until the transaction ends. False: it has no gate, or is not running.
 */
export async function judgeGate(tx: Queries, scope: Scope, testRunId: string): Promise<boolean> {
  const progress = await gateProgress(tx, scope, testRunId)
  if (progress === null) return false
  if (progress.head !== progress.predecessor) {
    // Another version is live: the evidence would be about the wrong predecessor.
    await cancelTestRuns(tx, scope, { test_run_id: testRunId })
    return true
  }
  const { standing, outcome } = await counted(tx, scope, testRunId, progress)
  if (outcome === null) await schedule(tx, scope, testRunId, progress, standing)
  else await complete(tx, scope, testRunId, progress, standing, outcome)
  return true
}

/** Counts pairs in the order of the schedule until they decide, so that trials that happen to end early have no more weight. */
async function counted(tx: Queries, scope: Scope, testRunId: string, progress: GateProgress) {
  const absolute = absoluteOf(progress)
  const trials = progress.absolute.reduce((sum, { verdicts }) => sum + verdicts.length, 0)
  const { maximumTrials = Number.POSITIVE_INFINITY } = progress.settings
  let standing: GateStanding = {
    settings: progress.settings,
    pairs: progress.pairs,
    comparedCases: progress.compared.length,
    absolute,
    spentUsd: progress.spent_usd,
    allowedPairs: Math.floor((maximumTrials - trials) / 2),
  }
  let outcome = gateOutcome(standing)
  if (outcome !== null) return { standing, outcome }
  for (const { pair, predecessor, candidate } of await settledPairs(tx, scope, testRunId, pairCount(progress.pairs))) {
    if (pair !== pairCount(standing.pairs)) break
    standing = { ...standing, pairs: withPair(standing.pairs, predecessor, candidate) }
    outcome = gateOutcome(standing)
    if (outcome !== null) break
  }
  return { standing, outcome }
}

function absoluteOf({ absolute }: GateProgress): GateStanding['absolute'] {
  const blocking = absolute.filter(one => one.blocking)
  const verdicts = blocking.map(({ verdict, verdicts, pass_policy }) => {
    if (verdict === 'invalid') return verdict
    const settled = verdicts.filter(one => one !== null)
    return settled.length < verdicts.length ? 'open' : caseVerdict(settled, pass_policy).verdict
  })
  const count = (of: string) => verdicts.filter(verdict => verdict === of).length
  return {
    cases: blocking.length,
    open: count('open'),
    failed: count('failed'),
    errored: count('errored'),
    invalid: count('invalid'),
  }
}

async function schedule(
  tx: Queries,
  scope: Scope,
  testRunId: string,
  { compared, predecessor, scheduled }: GateProgress,
  { pairs, allowedPairs }: GateStanding,
): Promise<void> {
  const until = Math.min(pairCount(pairs) + PAIRS_AHEAD, allowedPairs)
  const missing = compared.length === 0 || predecessor === null ? 0 : Math.max(0, until - scheduled)
  if (missing > 0 && predecessor !== null) {
    const more = scheduledPairs(scheduled, missing, compared.length).map(({ pair, caseIndex, trial }) => ({
      pair,
      trial,
      place: compared[caseIndex]!,
    }))
    await insertPairs(tx, scope, testRunId, predecessor, more)
  }
  await writeGateProgress(tx, scope, testRunId, { pairs, scheduled: scheduled + missing })
}

async function complete(
  tx: Queries,
  scope: Scope,
  testRunId: string,
  progress: GateProgress,
  standing: GateStanding,
  { verdict, reason }: GateOutcome,
): Promise<void> {
  await cancelOpenTrials(tx, scope, testRunId)
  const compared = await comparedCases(tx, scope, testRunId)
  const judged = [
    ...progress.absolute.map(({ place, blocking, verdict, verdicts, pass_policy }) => {
      const settled = verdicts.filter(one => one !== null)
      const own = verdict === 'invalid' ? { verdict, flaky: false } : caseVerdict(settled, pass_policy)
      return { place, blocking, isSettled: verdict === 'invalid' || settled.length > 0, ...own, change: null }
    }),
    ...compared.map(({ place, blocking, candidate, predecessor, pass_policy }) => {
      const own = caseVerdict(candidate, pass_policy)
      const before = predecessor.length === 0 ? undefined : caseVerdict(predecessor, pass_policy).verdict
      return { place, blocking, isSettled: candidate.length > 0, ...own, change: changeOf(before, own.verdict) }
    }),
  ].filter(({ isSettled }) => isSettled)
  await judgeCases(tx, scope, testRunId, judged)
  const absolute = progress.absolute.filter(one => one.blocking).flatMap(({ verdicts }) => verdicts)
  const count = (verdicts: readonly (string | null)[]) => verdicts.filter(one => one !== null).length
  const trials =
    progress.absolute.reduce((sum, { verdicts }) => sum + count(verdicts), 0) +
    compared.reduce((sum, { candidate, predecessor }) => sum + candidate.length + predecessor.length, 0)
  const summary = runSummary(judged, { trials, guard_events: progress.guard_events })
  const cases = progress.absolute.length + compared.length
  await completeTestRun(tx, scope, testRunId, { verdict, summary: { ...summary, cases } })
  const evidence = gateEvidence(standing, reason, {
    method: progress.predecessor === null ? 'absolute' : 'sequential',
    trials,
    absolute: { passed: absolute.filter(one => one === 'passed').length, trials: count(absolute) },
    measuredUsd: progress.spent_usd,
  })
  await writeGateProgress(tx, scope, testRunId, { pairs: standing.pairs, scheduled: progress.scheduled, evidence })
}
