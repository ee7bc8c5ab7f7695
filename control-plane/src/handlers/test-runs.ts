import { Refusal, type testRun } from '@parley/contract'
import {
  cancelTestRuns,
  insertTestRun,
  listCaseResults,
  listTestRuns,
  lockAgentAgainstArchiving,
  readTestRun,
  readTrial,
  type TestRunRow,
  trialEstimate,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers } from '../context.ts'
import { invalid } from './invalid-request.ts'
import { transcriptOf } from './runs-content.ts'
import { testCaseWarnings } from './test-case-warnings.ts'
import { requestedTests } from './test-run-request.ts'

type TestRun = z.input<typeof testRun>

/** Trials of one environment at once. */
const AT_ONCE = 4
/** How long a trial takes of which none has run yet. */
const UNKNOWN_MS = { cloud: 3000, phone: 20_000 } as const

export const testRunHandlers = {
  'test_runs.create': async ({ body }, context) => {
    const { db, scope, principal } = context
    await lockAgentAgainstArchiving(db, scope, body.agent_id)
    const { plan, suites, counts } = await requestedTests(body, context)
    const { agent_id, version, case_ids = null, trials = null, baseline_test_run_id = null } = body
    if (baseline_test_run_id !== null && (await readTestRun(db, scope, baseline_test_run_id)) === null)
      throw invalid('/baseline_test_run_id', `there is no test run ${baseline_test_run_id}`)
    const { model } = plan.providers.llm
    const testRunId = await insertTestRun(db, scope, {
      agent_id,
      version,
      purpose: 'manual',
      suites,
      case_ids,
      trials,
      baseline_test_run_id,
      judge_model: counts.judged > 0 && model.model_id !== 'rules-1' ? model : null,
      estimated_usd: (await estimate(body.agent_id, counts, context)).usd,
      created_by: principal.ref,
    })
    context.auditResource({ kind: 'evaluation', id: testRunId })
    return { status: 201, body: await existingTestRun(context, testRunId) }
  },

  'test_runs.estimate': async ({ body }, context) => {
    const { counts, cases: requested } = await requestedTests(body, context)
    const { usd, minutes } = await estimate(body.agent_id, counts, context)
    const { cases, cloud, phone } = counts
    return {
      status: 200,
      body: {
        cases,
        trials: cloud + phone,
        estimated_usd: usd,
        estimated_minutes: minutes,
        warnings: requested.flatMap(testCaseWarnings),
      },
    }
  },

  'test_runs.list': async ({ query: { cursor, ...filter } }, { db, scope }) => {
    const { rows, next_cursor } = await listTestRuns(db, scope, { ...filter, cursor: cursor ?? null })
    return { status: 200, body: { items: rows.map(row => bodyOf(row, scope)), next_cursor } }
  },

  'test_runs.get': async ({ params: { test_run_id } }, context) => ({
    status: 200,
    body: await existingTestRun(context, test_run_id),
  }),

  'test_runs.results': async ({ params: { test_run_id }, query: { cursor, limit } }, context) => {
    const { db, scope } = context
    await existingTestRun(context, test_run_id)
    const { rows, next_cursor } = await listCaseResults(db, scope, test_run_id, { cursor: cursor ?? null, limit })
    const items = rows.map(({ place: _, trials, predecessor_trials, ...row }) => ({
      ...row,
      trials: trials.map(withArrays),
      predecessor_trials: predecessor_trials.map(withArrays),
    }))
    return { status: 200, body: { items, next_cursor } }
  },

  'test_runs.trial': async ({ params: { test_run_id, trial_id } }, context) => {
    const found = await readTrial(context.db, context.scope, test_run_id, trial_id)
    if (found === null) throw new Refusal('not_found', `there is no trial ${trial_id} of the test run ${test_run_id}`)
    const transcript = found.run_id === null ? null : await transcriptOf(found.run_id, context)
    const { assertions, guard_events, replay, ...rest } = withArrays(found)
    return {
      status: 200,
      body: {
        ...rest,
        assertions: [...assertions],
        guard_events: [...guard_events],
        changes: replay === null ? null : [...replay.changes],
        turns: replay === null ? null : [...replay.turns],
        transcript,
      },
    }
  },

  'test_runs.cancel': async ({ params: { test_run_id } }, context) => {
    context.auditResource({ kind: 'evaluation', id: test_run_id })
    await cancelTestRuns(context.db, context.scope, { test_run_id })
    return { status: 202, body: await existingTestRun(context, test_run_id) }
  },
} satisfies Partial<Handlers>

export async function existingTestRun({ db, scope }: Context, testRunId: string): Promise<TestRun> {
  const row = await readTestRun(db, scope, testRunId)
  if (row === null) throw new Refusal('not_found', `there is no test run ${testRunId}`)
  return bodyOf(row, scope)
}

/** Rows are written with the types of the contract, so that the stored data match its schema. */
function bodyOf(row: TestRunRow, scope: Context['scope']): TestRun {
  return { ...scope, ...row } as unknown as TestRun
}

function withArrays<Row extends { readonly failed_assertions: readonly string[] }>(row: Row) {
  return { ...row, failed_assertions: [...row.failed_assertions] }
}

/** Cost of this many trials of the agent, by what its last ones cost. */
export async function estimatedCost(
  agentId: string,
  counts: Readonly<Record<'cloud' | 'phone', number>>,
  context: Context,
): Promise<number> {
  return (await estimate(agentId, counts, context)).usd
}

async function estimate(
  agentId: string,
  counts: Readonly<Record<'cloud' | 'phone', number>>,
  { db, scope }: Context,
): Promise<{ usd: number; minutes: number }> {
  let [usd, ms] = [0, 0]
  for (const channel of ['cloud', 'phone'] as const) {
    if (counts[channel] === 0) continue
    const each = await trialEstimate(db, scope, agentId, channel)
    usd += counts[channel] * each.usd
    ms += counts[channel] * (each.ms ?? UNKNOWN_MS[channel])
  }
  return { usd, minutes: ms / AT_ONCE / 60_000 }
}
