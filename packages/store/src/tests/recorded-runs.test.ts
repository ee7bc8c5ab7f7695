import type { Scope } from '@parley/contract'
import { suiteSource } from '@parley/contract/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { recordedRuns } from './recorded-runs.ts'

let test: TestDatabase
let scope: Scope
let count = 0
/** The ids of the stored runs by the words of their caller. */
const ids = new Map<string, string>()

beforeAll(async () => {
  test = await testDatabase()
  scope = await test.scope()
  const { tenant_id } = scope
  await test.owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, 'a', 'A')", [tenant_id])
  for (const version of [0, 1])
    await test.owner.query(
      `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages, source_kind,
         published_by, test, draft_id, draft_revision, plan, draft, warnings)
       values ($1, 'a', $2, 'd', 1, '{}', '{}', 'api', '{}', false, uuidv7(), 1, '{}', '{}', '[]')`,
      [tenant_id, version],
    )
  await store('plain', {})
  await store('older version', { version: 0 })
  await store('booked', { disposition: 'booked' })
  await store('booked too', { disposition: 'booked' })
  await store('mailbox', { contact: 'voicemail' })
  await store('two turns', { turns: 2 })
  await store('old', { days: 40 })
  await store('trial', { test: true })
})
afterAll(() => test?.close())

async function store(
  words: string,
  run: { version?: number; disposition?: string; contact?: string; turns?: number; days?: number; test?: boolean },
): Promise<void> {
  const { tenant_id } = scope
  const { rows } = await test.owner.query(
    `insert into parley.runs (tenant_id, agent_id, version, channel, mode, state, phone_state, trigger, test, created_at, started_at,
       ended_at, disposition, contact, dynamic_variables, can_dial, notifies)
     values ($1, 'a', $2, 'phone', 'inbound', 'completed', 'ended', '{}', $3, now() - $4 * interval '1 day' + $5 * interval '1 ms',
       now(), now(), $6, $7, '{"name": "Ada"}', false, false) returning run_id`,
    [
      tenant_id,
      run.version ?? 1,
      run.test ?? false,
      run.days ?? 1,
      ++count,
      run.disposition ?? 'other',
      run.contact ?? 'human',
    ],
  )
  const runId = rows[0].run_id as string
  ids.set(words, runId)
  const utterances = [
    { index: 0, role: 'agent', text: 'Hello.' },
    ...Array.from({ length: run.turns ?? 1 }, (_, index) => ({ index: index + 1, role: 'user', text: words })),
  ]
  await test.owner.query(
    "insert into parley.run_transcripts (tenant_id, run_id, state, final, utterances) values ($1, $2, 'complete', true, $3)",
    [tenant_id, runId, JSON.stringify(utterances)],
  )
  const events = [
    ['node', { node_id: 'welcome' }],
    ...utterances.map(({ role, text }) => ['utterance', { role, text }]),
    ['digits', { digits: '42', direction: 'in' }],
    ['digits', { digits: '7', direction: 'out' }],
    ['node', { node_id: 'done' }],
  ]
  for (const [index, [kind, fields]] of events.entries())
    await test.owner.query(
      'insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values ($1, $2, $3, now(), $4, $5)',
      [tenant_id, runId, index + 1, kind, JSON.stringify(fields)],
    )
}

/** The first words of the callers of the runs that the source picks. */
async function picked(source: object): Promise<string[]> {
  const parsed = suiteSource.parse(source)
  return (await recordedRuns(test.database.within(scope), scope, parsed, 'a')).map(({ caller: [first] }) =>
    'says' in first! ? first.says : '',
  )
}
const selector = (over: object = {}) => picked({ kind: 'selector', window_days: 7, limit: 100, ...over })

describe('the runs that a source picks', () => {
  it('a selector picks ended calls of people of the last days, newest first, without trials', async () => {
    expect(await selector()).toEqual(['two turns', 'booked too', 'booked', 'older version', 'plain'])
    expect(await selector({ window_days: 90, limit: 100 })).toContain('old')
  })

  it.each<[object, string[]]>([
    [{ versions: [0] }, ['older version']],
    [{ contact: ['voicemail'] }, ['mailbox']],
    [{ dispositions: ['booked'] }, ['booked too', 'booked']],
    [{ min_caller_turns: 2 }, ['two turns']],
    [{ limit: 2 }, ['two turns', 'booked too']],
    [{ limit: 2, sample: 'stratified_by_disposition' }, ['two turns', 'booked too']],
    [{ limit: 3, sample: 'stratified_by_disposition' }, ['two turns', 'booked too', 'booked']],
  ])('with %o it picks %o', async (over, expected) => {
    expect(await selector(over)).toEqual(expected)
  })

  it('run_ids pick these runs, with what their caller said and pressed, where they went and their variables', async () => {
    const source = suiteSource.parse({ kind: 'runs', run_ids: [ids.get('two turns')!] })
    expect(await recordedRuns(test.database.within(scope), scope, source, null)).toEqual([
      {
        run_id: ids.get('two turns'),
        caller: [{ says: 'two turns' }, { says: 'two turns' }, { presses: '42' }],
        nodes: ['welcome', 'done'],
        dynamic_variables: { name: 'Ada' },
      },
    ])
  })
})
