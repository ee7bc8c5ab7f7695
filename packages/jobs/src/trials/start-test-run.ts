import type { Scope, TestCase } from '@parley/contract'
import { caseFault } from '@parley/evaluation'
import type { Plan } from '@parley/flow'
import {
  gateOfTestRun,
  lockQueuedTestRun,
  type Queries,
  type QueuedTestRun,
  readPublication,
  readRun,
  recordedRuns,
  type StartedCase,
  startTestRun,
} from '@parley/store'
import { judgeGate } from '../release/judge-gate.ts'
import { judgeTestRun } from './judge-test-run.ts'
import { recordedCase, replayCase } from './recorded-cases.ts'

/** Starts the oldest queued test run of the environment: picks the runs of its sources and finds cases that are invalid. False: none waits. */
export async function startNextTestRun(tx: Queries, scope: Scope): Promise<boolean> {
  const queued = await lockQueuedTestRun(tx, scope)
  if (queued === null) return false
  const publication = await readPublication(tx, scope, queued.agent_id, queued.version)
  if (publication === null) throw new TypeError(`the publication of test run ${queued.test_run_id} does not exist`)
  const cases = await casesOf(queued, publication.plan, tx, scope)
  const { test_run_id } = queued
  if (queued.purpose === 'publish_gate') {
    await startTestRun(tx, scope, test_run_id, await gateCases(queued, cases, tx, scope))
    await judgeGate(tx, scope, test_run_id)
  } else {
    await startTestRun(tx, scope, test_run_id, cases)
    await judgeTestRun(tx, scope, test_run_id)
  }
  return true
}

/** Blocking cases that both versions can be tested by are compared; the others are judged by their own pass policy. */
async function gateCases(
  { test_run_id, agent_id }: QueuedTestRun,
  cases: readonly StartedCase[],
  tx: Queries,
  scope: Scope,
): Promise<StartedCase[]> {
  const gate = await gateOfTestRun(tx, scope, test_run_id)
  const before = gate?.predecessor ?? null
  const predecessor = before === null ? null : await readPublication(tx, scope, agent_id, before)
  if (predecessor === null) return [...cases]
  return cases.map(one => ({
    ...one,
    compared: one.test_case.blocking && one.fault === null && caseFault(one.test_case, predecessor.plan) === null,
  }))
}

async function casesOf(
  { suites, case_ids, trials, replay }: QueuedTestRun,
  plan: Plan,
  tx: Queries,
  scope: Scope,
): Promise<StartedCase[]> {
  if (replay !== null) {
    const run = await readRun(tx, scope, replay.run_id)
    const test_case = replayCase(replay.run_id, run?.dynamic_variables ?? {}, plan)
    return [{ suite_id: suites[0]!.suite_id, test_case, trials: 1, fault: null }]
  }
  const cases: StartedCase[] = []
  const add = (suite_id: string, test_case: TestCase, recorded_run_id: string | null = null) =>
    cases.push({
      suite_id,
      test_case,
      trials: trials ?? test_case.trials,
      fault: caseFault(test_case, plan),
      recorded_run_id,
    })
  for (const suite of suites) {
    for (const one of suite.cases) if (case_ids === null || case_ids.includes(one.case_id)) add(suite.suite_id, one)
    if (suite.source === null || case_ids !== null) continue
    for (const run of await recordedRuns(tx, scope, suite.source, suite.agent_id)) {
      const recorded = recordedCase(run, plan)
      if (recorded !== null) add(suite.suite_id, recorded, run.run_id)
    }
  }
  return cases
}
