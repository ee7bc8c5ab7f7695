import type { InputOf, OperationNamed, Plan, TestCase } from '@parley/contract'
import { readPublication, readSuite, type TestRunSuite } from '@parley/store'
import type { Context } from '../context.ts'
import { noVersion, unarchivedAgent } from './agents-refusals.ts'
import { invalid } from './invalid-request.ts'
import { noSuite } from './test-suites.ts'

type Requested = InputOf<OperationNamed<'test_runs.estimate'>>['body']

interface RequestedTests {
  readonly plan: Plan
  readonly suites: readonly TestRunSuite[]
  /** The requested cases of the suites. */
  readonly cases: readonly TestCase[]
  /** `cloud`: trials in text; `phone`: trials with audio; `judged`: cases with a judge. Runs of sources count as one trial each. */
  readonly counts: { readonly cases: number; readonly cloud: number; readonly phone: number; readonly judged: number }
}

/** The publication and suites that a test run names; throws the refusal for what is missing. */
export async function requestedTests(body: Requested, context: Context): Promise<RequestedTests> {
  const { db, scope } = context
  const { agent_id, version, suite_ids, case_ids, trials } = body
  await unarchivedAgent(context, agent_id)
  const publication = await readPublication(db, scope, agent_id, version)
  if (publication === null) throw noVersion(agent_id, version)
  const suites: TestRunSuite[] = []
  for (const suiteId of suite_ids) {
    const suite = await readSuite(db, scope, suiteId)
    if (suite === null) throw noSuite(suiteId)
    const { suite_id, revision, digest, cases, source } = suite
    suites.push({ suite_id, revision, digest, agent_id: suite.agent_id, cases, source })
  }
  const all = suites.flatMap(({ cases }) => cases)
  const unknown = case_ids?.findIndex(id => all.every(one => one.case_id !== id)) ?? -1
  if (unknown >= 0) throw invalid(`/case_ids/${unknown}`, `no suite has the case "${case_ids![unknown]}"`)
  const picked = all.filter(one => case_ids === undefined || case_ids.includes(one.case_id))
  const recorded = case_ids === undefined ? suites.reduce((sum, { source }) => sum + mostRuns(source), 0) : 0
  if (picked.length + recorded === 0) throw invalid('/suite_ids', 'the suites have no cases and no source: add a case')
  const trialsOf = (mode: TestCase['mode']) =>
    picked.filter(one => one.mode === mode).reduce((sum, one) => sum + (trials ?? one.trials), 0)
  return {
    plan: publication.plan,
    suites,
    cases: picked,
    counts: {
      cases: picked.length + recorded,
      cloud: trialsOf('text') + recorded,
      phone: trialsOf('audio'),
      judged: picked.filter(({ assertions }) => assertions.some(({ type }) => type === 'judge')).length,
    },
  }
}

function mostRuns(source: TestRunSuite['source']): number {
  if (source === null) return 0
  return source.kind === 'runs' ? source.run_ids.length : source.limit
}
