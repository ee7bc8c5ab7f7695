import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAudit } from '../audit.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { appendEvents, listEvents, type NewEvent } from './events.ts'
import { cancelRun, writeAnalysis } from './finish.ts'
import { postMessage } from './messages.ts'
import { settleSend, takeWebhooks } from './outbox.ts'
import { admitted, CHAT, OUTBOUND, talesOn, workspace } from './runs.fixture.ts'
import { readRun } from './runs.ts'
import { readTranscript, writeFinalTranscript } from './transcripts.ts'
import { storeUpdate } from './updates.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const { withinOf, running, end } = talesOn(() => test)
const SECRET = 'said in confidence'

/** A run from `days` ago with `SECRET` in all fields that hold words of people and models. */
async function conversation(scope: Scope, days: number): Promise<string> {
  const within = withinOf(scope)
  const run = await running(scope, { ...OUTBOUND, dynamic_variables: { note: SECRET }, notifies: true })
  const event = (kind: string, fields: NewEvent['fields']): NewEvent => ({
    at: '2026-01-01T00:00:00.000Z',
    offset_ms: 5,
    kind,
    fields,
  })
  const { rows } = await test.owner.query('select last_seq from parley.run_ownership where run_id = $1', [run.run_id])
  await within(async tx => {
    await appendEvents(tx, scope, run, rows[0].last_seq + 1, [
      event('utterance', { index: 0, role: 'user', text: SECRET }),
      event('digits', { direction: 'in', digits: SECRET }),
      event('node', { node_id: 'start' }),
    ])
    await storeUpdate(tx, scope, run.run_id, { override_dynamic_variables: { note: SECRET } })
    const utterances = [{ index: 0, text: SECRET }]
    await writeFinalTranscript(tx, scope, run, { state: 'complete', utterances, checkpoint: null, content: null })
  })
  await end(scope, run)
  await within(tx =>
    writeAnalysis(tx, scope, run.run_id, { analysis: { summary: SECRET }, successful: true, measurements: [] }),
  )
  for (const item of await within(tx => takeWebhooks(tx, scope, 60_000, 100)))
    await test.database.transaction(item.scope, tx => settleSend(tx, item, { kind: 'delivered' }))
  await test.owner.query("update parley.runs set ended_at = now() - $2 * interval '1 day' where run_id = $1", [
    run.run_id,
    days,
  ])
  return run.run_id
}

/** Tables with `SECRET` in a row of the run. */
async function standsIn(runId: string): Promise<string[]> {
  const { rows: tables } = await test.owner.query(
    "select table_name as name from information_schema.columns where table_schema = 'parley' and column_name = 'run_id' order by 1",
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await test.owner.query(
      `select from parley.${name} x where run_id = $1 and x::text like '%' || $2 || '%'`,
      [runId, SECRET],
    )
    if (rows.length > 0) found.push(name)
  }
  return found
}

describe('run contents past the retention of transcripts', () => {
  it('run contents past the retention of transcripts are deleted from the whole database; the run and its timeline stay', async () => {
    const scope = await workspace(test)
    const db = test.database.within(scope)
    const old = await conversation(scope, 31)
    const young = await conversation(scope, 29)
    expect(await standsIn(old)).toEqual(['outbox', 'run_events', 'run_transcripts', 'run_updates', 'runs'])
    expect(await test.database.contents.expireTranscripts(100)).toBe(0)
    await test.owner.query('update parley.tenants set transcript_days = 30 where tenant_id = $1', [scope.tenant_id])
    expect(await test.database.contents.expireTranscripts(100)).toBe(1)
    expect(await standsIn(old)).toEqual([])
    expect(await standsIn(young)).toHaveLength(5)
    expect(await readRun(db, scope, old)).toMatchObject({ state: 'completed', dynamic_variables: {}, analysis: null })
    expect(await readTranscript(db, scope, old)).toMatchObject({ state: 'expired', utterances: [] })
    const { rows } = await listEvents(db, scope, old, { cursor: null, limit: 10 })
    expect(rows.slice(-5).map(({ kind, fields }) => ({ kind, ...fields }))).toMatchObject([
      { kind: 'utterance', index: 0, role: 'user', text: '' },
      { kind: 'digits', direction: 'in', digits: '' },
      { kind: 'node', node_id: 'start' },
      { kind: 'update', status: 'rejected' },
      { kind: 'state', state: 'completed' },
    ])
    const audit = await listAudit(db, scope, { cursor: null, limit: 10 })
    expect(audit.rows).toMatchObject([{ action: 'transcripts.expire', principal: { kind: 'system', id: 'retention' } }])
    expect(await test.database.contents.expireTranscripts(100)).toBe(0)
  })

  it('run contents past the retention of transcripts include the messages of a chat that never began', async () => {
    const scope = await workspace(test)
    const within = withinOf(scope)
    const runId = await admitted(test, scope, CHAT)
    await within(tx => postMessage(tx, scope, runId, { message_id: crypto.randomUUID(), text: SECRET }))
    await within(tx => cancelRun(tx, scope, runId))
    await test.owner.query("update parley.runs set ended_at = now() - interval '400 days' where run_id = $1", [runId])
    expect(await standsIn(runId)).toEqual(['run_messages'])
    expect(await test.database.contents.expireTranscripts(100)).toBe(1)
    expect(await standsIn(runId)).toEqual([])
  })

  it('run contents past the retention of transcripts are deleted in bounded batches, once per run with two concurrent workers', async () => {
    const scope = await workspace(test)
    await test.owner.query('update parley.tenants set transcript_days = 1 where tenant_id = $1', [scope.tenant_id])
    for (let i = 0; i < 5; i++) await conversation(scope, 2)
    const expire = () => test.database.contents.expireTranscripts(2)
    const [first, second] = await Promise.all([expire(), expire()])
    expect(first).toBeLessThanOrEqual(2)
    expect(second).toBeLessThanOrEqual(2)
    let all = first + second
    for (let more = 1; more > 0; all += more) more = await expire()
    expect(all).toBe(5)
  })

  it('run contents past the retention of transcripts are not deleted while the run is live', async () => {
    const scope = await workspace(test)
    await test.owner.query('update parley.tenants set transcript_days = 1 where tenant_id = $1', [scope.tenant_id])
    const run = await running(scope, { ...OUTBOUND, dynamic_variables: { note: SECRET } })
    await test.owner.query("update parley.runs set created_at = now() - interval '9 days' where run_id = $1", [
      run.run_id,
    ])
    expect(await test.database.contents.expireTranscripts(100)).toBe(0)
    expect(await standsIn(run.run_id)).toEqual(['runs'])
  })
})
