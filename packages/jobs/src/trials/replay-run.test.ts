import { systemTime } from '@parley/kernel'
import { RulesModel } from '@parley/providers'
import {
  insertTestRun,
  listCaseResults,
  type ReplayOrder,
  readTestRun,
  readTranscript,
  readTrial,
  type TestRunSuite,
} from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JobCounters } from '../metrics.ts'
import { PlanCache } from '../plan-cache.ts'
import { MemoryEnvironmentQueue } from '../testing/memory-environment-queue.ts'
import { type DraftNode, END, planOf } from '../text/testing/agents.ts'
import { NO_SEALER, TextHarness } from '../text/testing/text-harness.ts'
import { TrialJobs } from './trial-jobs.ts'

const edge = (id: string, prompt: string, to: string) => ({
  id,
  transition_condition: { type: 'prompt' as const, prompt },
  destination_node_id: to,
})
const says = (id: string, text: string, edges: ReturnType<typeof edge>[]): DraftNode => ({
  id,
  type: 'conversation',
  instruction: { type: 'static_text', text },
  edges,
})
const nodesWith = (hours: string) => [
  says('talk', 'Hello {{name}}, how can I help you?', [
    edge('hours', 'The caller asks for the opening hours', 'hours'),
  ]),
  says('hours', hours, [edge('bye', 'The caller says goodbye', 'end')]),
  END,
]

let test: TestDatabase
let harness: TextHarness
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  harness = await TextHarness.open(test)
  await harness.publish('desk', planOf(nodesWith('We open at nine.')))
  await harness.publish('late-desk', planOf(nodesWith('We open at ten.')))
})
afterEach(() => harness.close())

async function recordedRun(redaction = false): Promise<string> {
  if (redaction) {
    const settings = { redaction: { kinds: ['names' as const] } }
    await harness.publish('private', planOf(nodesWith('We open at nine.'), { settings }))
  }
  harness.worker()
  harness.model.thinks({ take: 'The caller asks for the opening hours' }, { take: 'The caller says goodbye' })
  const run = await harness.run('chat', redaction ? 'private' : 'desk')
  await harness.reaches(run, row => row.state === 'running')
  await harness.answer(run, 'What are your opening hours?')
  await harness.answer(run, 'Goodbye.')
  expect((await harness.ended(run)).state).toBe('completed')
  return run
}

function replayed(agent_id: string, replay: ReplayOrder) {
  return testRun(agent_id, { suite_id: replay.run_id, source: null, replay })
}

async function testRun(
  agent_id: string,
  { suite_id, source, replay }: Pick<TestRunSuite, 'suite_id' | 'source'> & { readonly replay: ReplayOrder | null },
) {
  const { scope } = harness
  const { database } = test
  const test_run_id = await database.transaction(scope, tx =>
    insertTestRun(tx, scope, {
      agent_id,
      version: 1,
      purpose: 'manual',
      suites: [{ suite_id, revision: 1, digest: 'd', agent_id, cases: [], source }],
      case_ids: null,
      trials: 1,
      baseline_test_run_id: null,
      judge_model: null,
      estimated_usd: 0,
      created_by: { owner_id: 'o', environment: 'production', kind: 'api_key', id: suite_id },
      replay,
    }),
  )
  const problems: string[] = []
  const jobs = new TrialJobs({
    database,
    queue: new MemoryEnvironmentQueue(),
    plans: new PlanCache(database),
    agents: async () => ({
      models: () => new RulesModel(),
      actions: () => ({ run: () => Promise.reject(new Error('a replay runs no action')) }),
      transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
    }),
    sealer: NO_SEALER,
    bus: harness.bus,
    time: systemTime,
    wallClock: Date.now,
    log: (what, error) => problems.push(`${what}: ${error}`),
    counters: new JobCounters(),
  })
  await jobs.round(scope)
  expect(problems).toEqual([])
  const db = database.within(scope)
  const { rows } = await listCaseResults(db, scope, test_run_id, { cursor: null, limit: 10 })
  const trial = await readTrial(db, scope, test_run_id, rows[0]!.trials[0]!.trial_id)
  return { run: (await readTestRun(db, scope, test_run_id))!, trial: trial! }
}

describe('the replay of a chat', () => {
  it('the replay of a chat repeats every decision on its own publication, with the answers of its model', async () => {
    const run_id = await recordedRun()
    const { run, trial } = await replayed('desk', { run_id, version: 1, after_change: 'stop' })
    expect(trial.error).toBeNull()
    expect(run).toMatchObject({ state: 'completed', verdict: 'passed' })
    expect(run.replay).toEqual({ run_id, after_change: 'stop' })
    expect(trial.replay?.changes).toEqual([])
    expect(trial.replay?.turns.map(({ source }) => source)).toEqual(['replayed', 'replayed', 'replayed'])
  })

  it('the replay of a chat says which turn another publication changes, and stops there', async () => {
    const run_id = await recordedRun()
    const { run, trial } = await replayed('late-desk', { run_id, version: null, after_change: 'stop' })
    expect(run.verdict).toBe('failed')
    expect(trial.replay).toEqual({
      changes: [{ turn: 1, kind: 'speech', before: 'We open at nine.', after: 'We open at ten.' }],
      turns: [
        { turn: 0, source: 'replayed' },
        { turn: 1, source: 'simulated' },
      ],
    })
  })

  it('the replay of a chat is carried on by a persona of the caller if that is wanted', async () => {
    const run_id = await recordedRun()
    const { trial } = await replayed('late-desk', { run_id, version: null, after_change: 'simulate' })
    expect(trial.replay?.turns.slice(0, 2).map(({ source }) => source)).toEqual(['replayed', 'simulated'])
    expect(trial.replay!.turns.length).toBeGreaterThan(2)
  })

  it('of a run whose words were redacted is refused with that reason', async () => {
    const run_id = await recordedRun(true)
    const { trial } = await replayed('private', { run_id, version: 1, after_change: 'stop' })
    expect(trial).toMatchObject({ verdict: 'errored', replay: null })
    expect(trial.error).toContain('redacted')
    const stored = await test.owner.query('select sealed from parley.run_inputs where run_id = $1', [run_id])
    expect(stored.rows).toHaveLength(1)
  })

  it('the replay of a chat is not possible any more when the transcript has expired', async () => {
    const run_id = await recordedRun()
    await test.owner.query('update parley.runs set content_expired_at = parley.now_ms() where run_id = $1', [run_id])
    const { trial } = await replayed('desk', { run_id, version: 1, after_change: 'stop' })
    expect(trial.error).toContain('inputs_missing')
  })
})

describe('a suite whose source is a recorded run', () => {
  const looksUp = (greeting: string) =>
    planOf(
      [
        says('talk', greeting, [edge('hours', 'The caller asks for the opening hours', 'look_up')]),
        { id: 'look_up', type: 'function', tool_id: 'hours', edges: [], else_edge: edge('else', 'Else', 'hours') },
        says('hours', 'We open at {{hour}}.', [edge('bye', 'The caller says goodbye', 'end')]),
        END,
      ],
      {
        actions: [
          {
            action_id: 'hours',
            kind: 'http',
            name: 'hours',
            method: 'GET',
            url: 'https://desk.example.com/hours',
            response_variables: { hour: '$.hour' },
          },
        ],
      },
    )

  it("a suite whose source is a recorded run plays the run's caller to another version, whose actions get the recorded answers", async () => {
    await harness.publish('looks-up', looksUp('Hello, how can I help you?'))
    await harness.publish('looks-up-politely', looksUp('Good morning, how can I help you?'))
    harness.runAction = async ({ onPhase }) => {
      onPhase({ phase: 'started', effect_id: 'effect-1' })
      return { outcome: 'succeeded', body: { hour: 'nine' }, effect_id: 'effect-1', error_code: null, durationMs: 3 }
    }
    harness.worker()
    harness.model.thinks({ take: 'The caller asks for the opening hours' }, { take: 'The caller says goodbye' })
    const recorded = await harness.run('chat', 'looks-up')
    await harness.reaches(recorded, row => row.state === 'running')
    await harness.answer(recorded, 'What are your opening hours?')
    await harness.answer(recorded, 'Goodbye.')
    await harness.ended(recorded)
    const source = { kind: 'runs' as const, run_ids: [recorded] }
    const { run, trial } = await testRun('looks-up-politely', { suite_id: recorded, source, replay: null })
    expect(trial).toMatchObject({ verdict: 'passed', guard_events: [] })
    expect(run).toMatchObject({ replay: null, summary: { cases: 1, passed: 1 } })
    const { scope } = harness
    const transcript = await readTranscript(test.database.within(scope), scope, trial.run_id!)
    expect(transcript?.utterances.map(({ text }) => text)).toEqual([
      'Good morning, how can I help you?',
      'What are your opening hours?',
      'We open at nine.',
      'Goodbye.',
    ])
  })
})
