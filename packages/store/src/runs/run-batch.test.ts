import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database, Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { type InferenceEffect, recordInference } from './effects.ts'
import { appendEvents } from './events.ts'
import { endRun } from './finish.ts'
import { moveRun } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'
import { type RunWrites, writeRun } from './run-batch.ts'
import { COMPLETED, counted, letLeaseEnd, OUTBOUND, owned, pressed, rowOf, talesOn, workspace } from './runs.fixture.ts'
import { storeSipMessages } from './sip-messages.ts'
import { readTranscript, writeCheckpoint } from './transcripts.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test, { capacity: 10_000 })
})
afterAll(() => test?.close())

const { running } = talesOn(() => test)
const AT = '2026-01-02T03:04:05.678Z'
const inference: InferenceEffect = {
  effect_key: 'm-1',
  kind: 'gateway_inference',
  action: { id: 'model', version: 1 },
  node_id: 'greet',
  ordinal: 0,
  state: 'succeeded',
  receipts: [],
  error_code: null,
  created_at: AT,
  usage: [{ meter: 'llm_input_tokens', provider: 'p', model_id: 'm', quantity: 7 }],
}
const message = {
  place: 1,
  at: AT,
  direction: 'in',
  transport: 'tls',
  source: '192.0.2.1:5061',
  destination: '192.0.2.2:5061',
  message: 'BYE',
} as const
const checkpoint = { utterances: [{ index: 0, text: 'Hello' }], checkpoint: { segments: 1 } }
/** Everything that a run writes while it is live; the first item of its timeline is that of its admission. */
const ALL: RunWrites = {
  events: { first: 2, items: [pressed('1'), pressed('2')] },
  move: { state: 'running', phone_state: 'preparing', contact: 'human', answered_by: 'human' },
  inference: [inference],
  messages: [message],
  checkpoint,
}

/** Rows of the run by table, without what differs between any two runs. */
async function rowsOf({ run_id }: RunOwnership) {
  const rows: Record<string, unknown> = {}
  for (const table of ['run_events', 'run_effects', 'run_sip_messages', 'run_transcripts', 'run_ownership', 'runs']) {
    const found = await test.owner.query(`select * from parley.${table} where run_id = $1 order by 1`, [run_id])
    rows[table] = found.rows.map(row =>
      Object.fromEntries(
        Object.entries(row).filter(
          ([name]) => !/_at$|^at$|run_id|effect_id|place|until$|before$|call_minute/.test(name),
        ),
      ),
    )
  }
  return rows
}

describe('what a run writes in one statement', () => {
  it('what a run writes in one statement leaves the same rows as one write after the other', async () => {
    const [at, one] = [await owned(test, scope), await owned(test, scope)]
    expect(await writeRun(test.database, scope, at, ALL)).toBe('written')
    await test.database.transaction(scope, async (tx: Queries) => {
      expect(await appendEvents(tx, scope, one, 2, ALL.events.items)).toBe('appended')
      expect(await moveRun(tx, scope, one, ALL.move!)).toBe('moved')
      expect(await recordInference(tx, scope, one, ALL.inference)).toBe('recorded')
      expect(await storeSipMessages(tx, scope, one, ALL.messages)).toBe('stored')
      expect(await writeCheckpoint(tx, scope, one, checkpoint.utterances, checkpoint.checkpoint)).toBe('stored')
    })
    const rows = await rowsOf(at)
    expect(rows).toEqual(await rowsOf(one))
    expect(rows.run_events).toHaveLength(3)
    for (const table of ['run_effects', 'run_sip_messages', 'run_transcripts']) expect(rows[table]).toHaveLength(1)
  })

  it('what a run writes in one statement is written without items of the timeline too, and a move that is no step forward is left out alone', async () => {
    const run = await running(scope)
    const backward = {
      ...ALL,
      events: { first: 2, items: [] },
      move: { state: 'running', phone_state: 'admitted' },
    } as const
    await test.database.transaction(scope, tx => moveRun(tx, scope, run, { phone_state: 'active' }))
    expect(await writeRun(test.database, scope, run, backward)).toBe('written')
    expect(await rowOf(test, run.run_id)).toMatchObject({ state: 'running', phone_state: 'active' })
    expect(await readTranscript(test.database.within(scope), scope, run.run_id)).toMatchObject(checkpoint)
  })

  it.each([
    [
      'its lease ended',
      async (run: RunOwnership) => {
        await letLeaseEnd(test, run)
        return [run, ALL] as const
      },
    ],
    ['another process owns it', async (run: RunOwnership) => [{ ...run, fence: '9' }, ALL] as const],
    [
      'its items do not follow the last one',
      async (run: RunOwnership) => [run, { ...ALL, events: { ...ALL.events, first: 3 } }] as const,
    ],
  ])('what a run writes in one statement is refused as a whole when %s', async (_why, prepared) => {
    const run = await owned(test, scope)
    const [by, writes] = await prepared(run)
    const before = await rowsOf(run)
    expect(await writeRun(test.database, scope, by, writes)).toBe('refused')
    expect(await rowsOf(run)).toEqual(before)
  })
})

describe('the end of a run in one round trip', () => {
  const transcript = {
    state: 'complete',
    utterances: [{ index: 0, text: 'Bye' }],
    checkpoint: null,
    content: null,
  } as const

  it('the end of a run in one round trip stores its transcript, gives its permit back and gives its webhook the run as it ended', async () => {
    const run = await running(scope, { ...OUTBOUND, notifies: true })
    const before = await counted(test, scope)
    expect(await endRun(test.database, scope, run, COMPLETED, transcript)).toBe('finished')
    expect(await readTranscript(test.database.within(scope), scope, run.run_id)).toEqual({ ...transcript, final: true })
    expect(await counted(test, scope)).toMatchObject({ live: before.live - 1, permits: before.permits - 1 })
    const { rows } = await test.owner.query('select event, payload from parley.outbox where run_id = $1', [run.run_id])
    expect(rows).toMatchObject([{ event: 'run.ended', payload: { run_id: run.run_id, state: 'completed' } }])
    expect(await endRun(test.database, scope, run, COMPLETED, transcript)).toBe('lost')
  })

  it('the end of a run in one round trip stores nothing when the end is not allowed', async () => {
    const run = await running(scope)
    await test.database.transaction(scope, tx =>
      writeCheckpoint(tx, scope, run, checkpoint.utterances, checkpoint.checkpoint),
    )
    expect(await endRun(test.database, scope, run, { ...COMPLETED, state: 'expired' }, transcript)).toBe('not_allowed')
    expect(await rowOf(test, run.run_id)).toMatchObject({ state: 'running' })
    expect(await readTranscript(test.database.within(scope), scope, run.run_id)).toMatchObject({ final: false })
  })

  it('a process that is busy while it ends a run holds up no other call of the environment', async () => {
    const run = await running(scope, { ...OUTBOUND, notifies: true })
    const lock = `select from parley.run_counters where tenant_id = '${scope.tenant_id}' for no key update`
    const clock = 'select 1000 * extract(epoch from clock_timestamp())::float8 as ms'
    // Three statements that need nothing from this process, which stands still meanwhile.
    const other = test.owner.query(`select pg_sleep(0.2); ${lock}; ${clock}`) as unknown as Promise<
      { rows: { ms: number }[] }[]
    >
    const busy = busyAfterSending(1500)
    expect(await endRun(busy.database, scope, run, COMPLETED, transcript)).toBe('finished')
    const [, locked, after] = await other
    expect(locked!.rows).toHaveLength(1)
    expect(after!.rows[0]!.ms).toBeLessThan(busy.until())
  })
})

/**
 * The database of the test; once this process has sent the first statements of a transaction, it is busy with something else. `until`: when it
 * was no longer busy, ms since 1970.
 */
function busyAfterSending(ms: number): { readonly database: Database; readonly until: () => number } {
  let until = 0
  const transaction = (of: Scope, work: (tx: never) => Promise<unknown>, lastWrites: never) =>
    test.database.transaction(
      of,
      tx => {
        const result = work(tx as never)
        setImmediate(() => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
          until = Date.now()
        })
        return result
      },
      lastWrites,
    )
  return { database: { transaction } as unknown as Database, until: () => until }
}
