import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestRuns } from '../testing/start-test-runs.ts'
import { SUITE_BODY, SUITE_CASE } from '../testing/suite-requests.ts'
import { openWorkspace, refused, type Workspace } from '../testing/workspace.ts'

const NONE = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const PLAN = {
  providers: { llm: { provider: 'hosted', model: { model_id: 'm-1', provider: 'vendor', tier: 'frontier' } } },
}

let workspace: Workspace
let scope: Scope
let suite_id: string
beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.configured()
  await workspace.publishedAgent(scope, 'ada', { plan: PLAN })
  suite_id = await suite([SUITE_CASE, { ...SUITE_CASE, case_id: 'audio', mode: 'audio', trials: 3 }])
})

async function suite(cases: readonly object[], over: object = {}): Promise<string> {
  const { source: _, ...body } = SUITE_BODY
  return (await workspace.call(scope, 'test_suites.create', { body: { ...body, cases, ...over } })).body.suite_id
}
const requested = (over: object = {}) => ({ agent_id: 'ada', version: 0, suite_ids: [suite_id], ...over })
const create = (over: object = {}) => workspace.call(scope, 'test_runs.create', { body: requested(over) })
const estimate = (over: object = {}) => workspace.call(scope, 'test_runs.estimate', { body: requested(over) })
const list = (query: object) => workspace.call(scope, 'test_runs.list', { query })
const by = (id: string) => ({ params: { test_run_id: id } })

describe('POST /test-runs', () => {
  it('a test run is created queued, with the suites as they are now', async () => {
    const { status, body, auditedResource } = await create()
    expect(status).toBe(201)
    expect(body).toMatchObject({
      agent_id: 'ada',
      publication: { agent_id: 'ada', version: 0 },
      purpose: 'manual',
      suites: [{ suite_id, revision: 1 }],
      state: 'queued',
      verdict: null,
      progress: { trials: 0, admitted: 0, settled: 0 },
      summary: null,
      replay: null,
      judge_model: null,
      cost: { estimated_usd: 0, measured_usd: null },
    })
    expect(auditedResource).toEqual({ kind: 'evaluation', id: body.test_run_id })
    const edits = [{ op: 'remove_case', case_id: 'audio' }]
    await workspace.call(scope, 'test_suites.edit', { params: { suite_id }, body: { expected_revision: 1, edits } })
    await startTestRuns(workspace.test.database, scope)
    const { items } = (await workspace.call(scope, 'test_runs.results', by(body.test_run_id))).body
    expect(items.map(({ case_id }: { case_id: string }) => case_id)).toEqual(['books', 'audio'])
  })

  it('the judge is the model of the agent, where a case needs one', async () => {
    const judged = { ...SUITE_CASE, assertions: [{ type: 'judge', id: 'polite', criterion: 'Was the agent polite?' }] }
    suite_id = await suite([judged])
    expect((await create()).body.judge_model).toEqual(PLAN.providers.llm.model)
  })

  it.each([
    ['an unknown agent', { agent_id: 'bea' }, 'not_found'],
    ['an unknown version', { version: 7 }, 'not_found'],
    ['an unknown suite', { suite_ids: [NONE] }, 'not_found'],
    ['a case that no suite has', { case_ids: ['books', 'none'] }, 'invalid_request'],
    ['an unknown baseline', { baseline_test_run_id: NONE }, 'invalid_request'],
  ])('a test run with %s is refused', async (_what, over, code) => {
    expect(await create(over)).toMatchObject(refused(code))
  })

  it('a suite without cases and source is refused', async () => {
    suite_id = await suite([])
    expect(await create()).toMatchObject(refused('invalid_request'))
  })

  it('an archived agent is refused', async () => {
    await workspace.publishedAgent(scope, 'old', { archived: true, plan: PLAN })
    expect(await create({ agent_id: 'old' })).toMatchObject(refused('conflict', 'agent_archived'))
  })
})

describe('POST /test-runs/estimate', () => {
  it('trials are counted, and cost nothing without a rate card', async () => {
    expect((await estimate()).body).toEqual({
      cases: 2,
      trials: 4,
      estimated_usd: 0,
      estimated_minutes: (3000 + 3 * 20_000) / 4 / 60_000,
      warnings: [],
    })
    expect((await estimate({ trials: 10, case_ids: ['audio'] })).body).toMatchObject({ cases: 1, trials: 10 })
  })

  it('fields that have no effect in the mode of their case give warnings', async () => {
    const quiet = {
      kind: 'script',
      steps: [
        { says: 'Hello.', level_db: -30 },
        { says: 'Yes.', interrupt_at_ms: 500 },
      ],
    }
    const persona = { kind: 'persona', goal: 'Ask', brief: 'A caller' }
    const voice = { voice_id: 'slt' }
    suite_id = await suite([
      { ...SUITE_CASE, case_id: 'text', mode: 'text', caller: quiet, voice },
      { ...SUITE_CASE, case_id: 'audio', mode: 'audio', caller: quiet, voice },
      { ...SUITE_CASE, case_id: 'persona', mode: 'audio', caller: persona },
    ])
    const { warnings } = (await estimate()).body
    expect(warnings.map(({ path }: { path: string }) => path)).toEqual([
      '/cases/text/voice',
      '/cases/text/caller/steps/0/level_db',
      '/cases/text/caller/steps/1/interrupt_at_ms',
      '/cases/persona/caller/kind',
    ])
  })

  it('runs of a source count as one trial each', async () => {
    suite_id = await suite([], { source: { kind: 'selector', window_days: 7, limit: 20 } })
    expect((await estimate()).body).toMatchObject({ cases: 20, trials: 20 })
  })
})

describe('GET /test-runs', () => {
  it('the list has the newest first and can be filtered', async () => {
    const one = (await create()).body
    const two = (await create()).body
    await workspace.call(scope, 'test_runs.cancel', { ...by(one.test_run_id), body: {} })
    const ids = async (query: object) =>
      (await list(query)).body.items.map(({ test_run_id }: { test_run_id: string }) => test_run_id)
    expect(await ids({})).toEqual([two.test_run_id, one.test_run_id])
    expect(await ids({ state: 'cancelled', purpose: 'manual' })).toEqual([one.test_run_id])
    expect(await ids({ suite_id, agent_id: 'ada', version: 0 })).toHaveLength(2)
    expect(await ids({ suite_id: NONE })).toEqual([])
    expect(await ids({ purpose: 'release' })).toEqual([])
    const first = (await list({ limit: 1 })).body
    expect((await list({ limit: 1, cursor: first.next_cursor })).body.items).toMatchObject([
      { test_run_id: one.test_run_id },
    ])
  })

  it('the test runs of another environment do not exist', async () => {
    const { body } = await create()
    scope = await workspace.configured()
    expect((await list({})).body.items).toEqual([])
    for (const id of ['test_runs.get', 'test_runs.results'] as const)
      expect(await workspace.call(scope, id, by(body.test_run_id))).toMatchObject(refused('not_found'))
  })
})

describe('a test run that has started', () => {
  it('its cases have their trials, each readable by its id', async () => {
    const { test_run_id } = (await create({ trials: 2 })).body
    await startTestRuns(workspace.test.database, scope)
    expect((await workspace.call(scope, 'test_runs.get', by(test_run_id))).body).toMatchObject({
      state: 'running',
      progress: { trials: 4, admitted: 0, settled: 0 },
    })
    const { items } = (await workspace.call(scope, 'test_runs.results', by(test_run_id))).body
    expect(items[0]).toMatchObject({
      case_id: 'books',
      name: SUITE_CASE.name,
      blocking: true,
      verdict: null,
      flaky: false,
    })
    const [trial] = items[0].trials
    expect(trial).toMatchObject({ trial: 1, state: 'queued', verdict: null, run_id: null, failed_assertions: [] })
    const params = { test_run_id, trial_id: trial.trial_id }
    expect((await workspace.call(scope, 'test_runs.trial', { params })).body).toMatchObject({
      ...params,
      case_id: 'books',
      assertions: [],
      guard_events: [],
      transcript: null,
      started_at: null,
    })
    expect(await workspace.call(scope, 'test_runs.trial', { params: { test_run_id, trial_id: NONE } })).toMatchObject(
      refused('not_found'),
    )
  })

  it('a cancelled test run keeps its trials as cancelled, and cancelling again changes nothing', async () => {
    const { test_run_id } = (await create()).body
    await startTestRuns(workspace.test.database, scope)
    const cancel = () => workspace.call(scope, 'test_runs.cancel', { ...by(test_run_id), body: {} })
    const { status, body } = await cancel()
    expect(status).toBe(202)
    expect(body).toMatchObject({ state: 'cancelled', verdict: null, progress: { trials: 4, admitted: 0, settled: 4 } })
    expect((await cancel()).body).toEqual(body)
  })
})
