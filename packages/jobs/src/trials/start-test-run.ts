import type { Scope, TestCase } from '@parley/contract'
import { caseFault } from '@parley/evaluation'
import type { Plan } from '@parley/flow'
import {
  lockQueuedTestRun,
  type Queries,
  type QueuedTestRun,
  readPublication,
  recordedRuns,
  type StartedCase,
  startTestRun,
} from '@parley/store'
import { judgeTestRun } from './judge-test-run.ts'
import { recordedCase } from './recorded-cases.ts'

/** Starts the oldest queued test run of the environment: picks the runs of its sources and finds cases that are invalid. False: none waits. */
export async function startNextTestRun(tx: Queries, scope: Scope): Promise<boolean> {
  const queued = await lockQueuedTestRun(tx, scope)
  if (queued === null) return false
  const publication = await readPublication(tx, scope, queued.agent_id, queued.version)
  if (publication === null) throw new TypeError(`the publication of test run ${queued.test_run_id} does not exist`)
  await startTestRun(tx, scope, queued.test_run_id, await casesOf(queued, publication.plan, tx, scope))
  await judgeTestRun(tx, scope, queued.test_run_id)
  return true
}

async function casesOf(
  { suites, case_ids, trials }: QueuedTestRun,
  plan: Plan,
  tx: Queries,
  scope: Scope,
): Promise<StartedCase[]> {
  const cases: StartedCase[] = []
  const add = (suite_id: string, test_case: TestCase) =>
    cases.push({ suite_id, test_case, trials: trials ?? test_case.trials, fault: caseFault(test_case, plan) })
  for (const suite of suites) {
    for (const one of suite.cases) if (case_ids === null || case_ids.includes(one.case_id)) add(suite.suite_id, one)
    if (suite.source === null || case_ids !== null) continue
    for (const run of await recordedRuns(tx, scope, suite.source, suite.agent_id)) {
      const recorded = recordedCase(run, plan)
      if (recorded !== null) add(suite.suite_id, recorded)
    }
  }
  return cases
}
