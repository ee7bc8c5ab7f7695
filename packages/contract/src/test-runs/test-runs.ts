import { modelIdentity, text } from '@parley/nodes'
import { z } from 'zod'
import { diagnostic } from '../drafts/diagnostic.ts'
import { operation } from '../operation.ts'
import { transcript } from '../runs/content.ts'
import { caseId } from '../test-suites/test-case.ts'
import { agentId, digest, revision, uuid, version } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { principalRef, publicationRef } from '../values/references.ts'
import { timestamp } from '../values/time.ts'

const count = z.int().min(0)
const usd = z.number().min(0)
const state = z.enum(['queued', 'running', 'completed', 'cancelled'])
const verdict = z.enum(['passed', 'failed', 'errored'])
const purpose = z.enum(['manual', 'publish_gate', 'schedule', 'release'])

/** Suites executed against one publication. */
export const testRun = z
  .strictObject({
    owner_id: text(1),
    environment: text(1),
    tenant_id: uuid,
    test_run_id: uuid,
    agent_id: agentId,
    publication: publicationRef,
    purpose,
    suites: z
      .array(z.strictObject({ suite_id: uuid, revision, digest }))
      .min(1)
      .max(10),
    state,
    /** Null until it is completed, and for cancelled ones. */
    verdict: verdict.nullable(),
    /** `admitted`: trials that have begun; `settled`: those that have a result. */
    progress: z.strictObject({ trials: count, admitted: count, settled: count }),
    /** Null until it is completed. */
    summary: z
      .strictObject({
        cases: count,
        /** `flaky_passed` are among `passed`. */
        passed: count,
        flaky_passed: count,
        failed: count,
        errored: count,
        invalid: count,
        trials: count,
        regressed: count,
        fixed: count,
        guard_events: count,
      })
      .nullable(),
    baseline_test_run_id: uuid.nullable(),
    /** The run that the test run replays, and what follows the first turn that changes; null: it executes suites. */
    replay: z.strictObject({ run_id: uuid, after_change: z.enum(['stop', 'simulate']) }).nullable(),
    /** The model that judges; null: no case needs one, or the agent's model cannot judge. */
    judge_model: modelIdentity.nullable(),
    cost: z.strictObject({ estimated_usd: usd, measured_usd: usd.nullable() }),
    created_by: principalRef,
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'TestRun' })

const trialHead = {
  trial_id: uuid,
  /** From 1. */
  trial: z.int().min(1),
  state,
  verdict: verdict.nullable(),
  /** Null until the trial has ended. */
  run_id: uuid.nullable(),
  duration_ms: count.nullable(),
  failed_assertions: z.array(text(1, 64)),
}

const caseResult = z
  .strictObject({
    suite_id: uuid,
    case_id: text(1, 64),
    name: text(1, 200),
    blocking: z.boolean(),
    /** `invalid`: the case names what the agent does not have, see `fault`. Null until all its trials have ended. */
    verdict: z.enum(['passed', 'failed', 'errored', 'invalid']).nullable(),
    /** Why the case is invalid; null: it is not. */
    fault: text(0).nullable(),
    /** Trials with a verdict differ. */
    flaky: z.boolean(),
    /** Against the baseline; null: there is none, or the test run is not completed. */
    change: z.enum(['regressed', 'fixed', 'same', 'new']).nullable(),
    /** At most the first 100. */
    trials: z.array(z.strictObject(trialHead)),
    /** In a release gate: the trials of the version that it is compared with, at most the first 100. */
    predecessor_trials: z.array(z.strictObject(trialHead)),
  })
  .meta({ id: 'CaseResult' })

const trial = z
  .strictObject({
    ...trialHead,
    test_run_id: uuid,
    /** The version that it tested. */
    version,
    suite_id: uuid,
    case_id: text(1, 64),
    assertions: z.array(
      z.strictObject({
        id: text(1, 64),
        type: text(1, 64),
        /** Null: it could not be judged. */
        passed: z.boolean().nullable(),
        message: text(0).nullable(),
      }),
    ),
    /** What the trial did not do, because it would have had an effect outside. */
    guard_events: z.array(
      z.strictObject({ kind: text(1, 64), action_id: text(1, 128).nullable(), offset_ms: count.nullable() }),
    ),
    /** Differences between the recorded run and its replay, by the caller's turn (0: before the first); null: no run was replayed. */
    changes: z
      .array(
        z.strictObject({
          turn: count,
          kind: z.enum(['node', 'speech', 'action', 'latency', 'decision']),
          before: text(0).nullable(),
          after: text(0).nullable(),
        }),
      )
      .nullable(),
    /** The turns of a replay: repeated as they were recorded, or simulated from the first change on. */
    turns: z.array(z.strictObject({ turn: count, source: z.enum(['replayed', 'simulated']) })).nullable(),
    transcript: transcript.nullable(),
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    error: text(0).nullable(),
  })
  .meta({ id: 'Trial' })

const path = '/api/v1/test-runs'
const byTestRun = z.strictObject({ test_run_id: uuid })

const request = {
  agent_id: agentId,
  /** A published version, live or for tests. */
  version,
  suite_ids: z
    .array(uuid)
    .min(1)
    .max(10)
    .refine(ids => new Set(ids).size === ids.length, 'a suite is named twice'),
  /** Default: all cases. With it, sources of suites add no cases. */
  case_ids: z.array(caseId).min(1).max(100).optional(),
  /** Replaces the number of trials of each case. */
  trials: z.int().min(1).max(10).optional(),
}
const REFUSALS = { not_found: [], conflict: ['agent_archived'] } as const

const createTestRun = operation({
  id: 'test_runs.create',
  method: 'POST',
  path,
  summary:
    'Start a test run: test a published version of an agent with test suites. Read it with test_runs_get until its state is completed, then its results',
  role: 'member',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({ ...request, baseline_test_run_id: uuid.optional() }),
  output: testRun,
  statuses: [201, 200],
  refusals: REFUSALS,
})

const estimateTestRun = operation({
  id: 'test_runs.estimate',
  method: 'POST',
  path: `${path}/estimate`,
  summary: 'Estimate the number of trials, the cost and the minutes of a test run before it is started',
  role: 'member',
  idempotency: 'none',
  params: null,
  query: null,
  body: z.strictObject(request),
  output: z.strictObject({
    cases: count,
    trials: count,
    estimated_usd: usd,
    estimated_minutes: z.number().min(0),
    warnings: z.array(diagnostic),
  }),
  statuses: [200],
  refusals: REFUSALS,
  hints: { readOnly: true },
})

const listTestRuns = operation({
  id: 'test_runs.list',
  method: 'GET',
  path,
  summary: 'List test runs, newest first',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({
    agent_id: agentId.optional(),
    version: version.optional(),
    suite_id: uuid.optional(),
    purpose: purpose.optional(),
    state: state.optional(),
  }),
  body: null,
  output: page(testRun),
  statuses: [200],
  refusals: {},
})

const getTestRun = operation({
  id: 'test_runs.get',
  method: 'GET',
  path: `${path}/{test_run_id}`,
  summary: 'Read a test run: state, verdict, progress, summary and cost',
  role: 'viewer',
  idempotency: 'none',
  params: byTestRun,
  query: null,
  body: null,
  output: testRun,
  statuses: [200],
  refusals: {},
})

const readResults = operation({
  id: 'test_runs.results',
  method: 'GET',
  path: `${path}/{test_run_id}/results`,
  summary: 'Read the results of a test run by case: verdict, flaky, change against the baseline, failed assertions',
  role: 'viewer',
  idempotency: 'none',
  params: byTestRun,
  query: listQuery({}),
  body: null,
  output: page(caseResult),
  statuses: [200],
  refusals: {},
})

const readTrial = operation({
  id: 'test_runs.trial',
  method: 'GET',
  path: `${path}/{test_run_id}/trials/{trial_id}`,
  summary: 'Read one trial of a test run: its assertions, guard events and transcript',
  role: 'viewer',
  idempotency: 'none',
  params: z.strictObject({ test_run_id: uuid, trial_id: uuid }),
  query: null,
  body: null,
  output: trial,
  statuses: [200],
  refusals: {},
})

const cancelTestRun = operation({
  id: 'test_runs.cancel',
  method: 'POST',
  path: `${path}/{test_run_id}/cancel`,
  summary: 'Cancel a test run: no more trials start, running ones are cancelled, settled results stay',
  role: 'member',
  idempotency: 'natural',
  params: byTestRun,
  query: null,
  body: z.strictObject({}),
  output: testRun,
  statuses: [202],
  refusals: {},
  hints: { destructive: true },
})

export const testRunOperations = [
  createTestRun,
  estimateTestRun,
  listTestRuns,
  getTestRun,
  readResults,
  readTrial,
  cancelTestRun,
] as const
