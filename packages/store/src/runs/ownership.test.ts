import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { appendEvents } from './events.ts'
import { cancelRun, finishRun } from './finish.ts'
import { moveRun, ownsRun, releaseRun, storeDial, storeDialog } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'
import {
  CHAT,
  CHAT_OVER,
  COMPLETED,
  ENGINE,
  letLeaseEnd,
  OUTBOUND,
  owned,
  pressed,
  REAPER,
  rowOf,
  workspace,
} from './runs.fixture.ts'
import { writeCheckpoint } from './transcripts.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test, { capacity: 10_000 })
})
afterAll(() => test?.close())

const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)

/** Everything an owner writes, with what it answers to one who has lost the run. */
const WRITES: readonly (readonly [string, (tx: Queries, run: RunOwnership) => Promise<unknown>])[] = [
  ['a move', (tx, run) => moveRun(tx, scope, run, { state: 'running' })],
  ['events', (tx, run) => appendEvents(tx, scope, run, 2, [pressed('1')])],
  ['the dial', (tx, run) => storeDial(tx, scope, run, { call_id: 'x' })],
  ['the dialog', (tx, run) => storeDialog(tx, scope, run, { call_id: 'x' })],
  ['a checkpoint', (tx, run) => writeCheckpoint(tx, scope, run, [], { segments: 0 })],
  ['a release', (tx, run) => releaseRun(tx, scope, run)],
  ['the end', (tx, run) => finishRun(tx, scope, run, COMPLETED)],
]

describe('an owner of runs', () => {
  it('an owner of runs renews all leases in one statement and gets requests for its runs in the result', async () => {
    const runs = [await owned(test, scope), await owned(test, scope), await owned(test, scope)] as const
    expect(await within(tx => cancelRun(tx, scope, runs[1].run_id))).toBe('requested')
    const theirs = await owned(test, scope, OUTBOUND, { engine: 'another', worker: null })
    await letLeaseEnd(test, runs[2])
    // Somebody took it over.
    await test.owner.query('update parley.run_ownership set fence = fence + 1 where run_id = $1', [runs[2].run_id])
    const renewed = await test.database.runs.renew(ENGINE.engine, [...runs, theirs, { ...runs[0], fence: '7' }])
    expect(renewed.toSorted((one, other) => Number(one.cancel_asked) - Number(other.cancel_asked))).toEqual([
      { run_id: runs[0].run_id, busy: false, cancel_asked: false, last_update: 0 },
      { run_id: runs[1].run_id, busy: false, cancel_asked: true, last_update: 0 },
    ])
    const { rows } = await test.owner.query(
      "select lease_until between now() + interval '5 s' and now() + interval '9 s' as renewed from parley.run_ownership where run_id = $1",
      [runs[0].run_id],
    )
    expect(rows).toEqual([{ renewed: true }])
  })

  it('an owner of runs renews a lease that expired during an outage of the database, unless the run was taken over', async () => {
    const run = await owned(test, scope)
    await letLeaseEnd(test, run)
    expect(await within(tx => ownsRun(tx, scope, run))).toBe(false)
    expect(await test.database.runs.renew(ENGINE.engine, [run])).toMatchObject([{ run_id: run.run_id }])
    expect(await within(tx => ownsRun(tx, scope, run))).toBe(true)
  })

  it('an owner of runs renews other leases while a write locks one run', async () => {
    const [busy, free] = [await owned(test, scope), await owned(test, scope)]
    await within(async tx => {
      await moveRun(tx, scope, busy, { state: 'running' })
      const renewed = await test.database.runs.renew(ENGINE.engine, [busy, free])
      expect(new Map(renewed.map(run => [run.run_id, run.busy]))).toEqual(
        new Map([
          [busy.run_id, true],
          [free.run_id, false],
        ]),
      )
    })
  })

  it.each(WRITES)(
    'an owner of runs writes nothing after its lease has expired, even if the run was not taken over: %s',
    async (_what, write) => {
      const run = await owned(test, scope)
      await letLeaseEnd(test, run)
      const before = await rowOf(test, run.run_id)
      expect(await within(tx => write(tx, run))).toBe('lost')
      expect(await rowOf(test, run.run_id)).toEqual(before)
      const { rows } = await test.owner.query('select last_seq from parley.run_ownership where run_id = $1', [
        run.run_id,
      ])
      expect(rows).toEqual([{ last_seq: 1 }])
    },
  )

  it.each(WRITES)('an owner of runs writes nothing after the run was taken over: %s', async (_what, write) => {
    const run = await owned(test, scope)
    await letLeaseEnd(test, run)
    const [taken] = (await test.database.runs.reap(REAPER, 100, 60_000)).filter(one => one.run_id === run.run_id)
    expect(await within(tx => write(tx, run))).toBe('lost')
    // The new owner may, which shows that it was the fence.
    expect(await within(tx => ownsRun(tx, scope, taken!))).toBe(true)
    expect(await within(tx => write(tx, taken!))).not.toBe('lost')
  })

  it.each(WRITES)('an owner of runs writes nothing in another environment: %s', async (_what, write) => {
    const other = await workspace(test)
    const run = await owned(test, other)
    expect(await within(tx => write(tx, run))).toBe('lost')
    expect(await rowOf(test, run.run_id)).toMatchObject({ state: 'admitted', dial: null })
  })

  it('an owner of runs and a concurrent reaper cannot both end the run', async () => {
    for (let round = 0; round < 15; round++) {
      const run = await owned(test, scope, CHAT)
      await within(tx => moveRun(tx, scope, run, { state: 'running' }))
      const takes = async () =>
        (await test.database.runs.reap(REAPER, 1000, 60_000)).some(one => one.run_id === run.run_id)
      const [finished, taken] = await Promise.all([
        within(tx => finishRun(tx, scope, run, CHAT_OVER)),
        letLeaseEnd(test, run).then(takes),
      ])
      // An owner that comes too late may hold the row while it learns so: the next look takes it.
      const reaped = taken || (await takes())
      expect(finished).toBe(reaped ? 'lost' : 'finished')
    }
  })
})

describe('a dead owner’s run', () => {
  it('a dead owner’s run is taken over by one reaper, with the data for CANCEL and BYE', async () => {
    const run = await owned(test, scope)
    await within(async tx => {
      await moveRun(tx, scope, run, { state: 'running', phone_state: 'dialing' })
      await storeDial(tx, scope, run, { request_uri: 'sip:x', cseq: 1 })
      await storeDialog(tx, scope, run, { call_id: 'c', cseq: 2 })
    })
    expect((await test.database.runs.reap(REAPER, 1000)).map(one => one.run_id)).not.toContain(run.run_id)
    await letLeaseEnd(test, run)
    const reapers = await Promise.all(Array.from({ length: 8 }, () => test.database.runs.reap(REAPER, 1000, 60_000)))
    const taken = reapers.flat().filter(one => one.run_id === run.run_id)
    expect(taken).toEqual([
      {
        run_id: run.run_id,
        fence: '2',
        scope,
        channel: 'phone',
        mode: 'outbound',
        state: 'running',
        phone_state: 'dialing',
        lost_engine: 'engine-1',
        lost_worker: null,
        last_renewed_at: expect.any(String),
        last_seq: 1,
        dial: { request_uri: 'sip:x', cseq: 1 },
        dialog: { call_id: 'c', cseq: 2 },
      },
    ])
    const lost = { kind: 'error', detail: 'engine_lost', sip_status: null, ended_by: 'system' }
    const end = await within(tx =>
      finishRun(tx, scope, taken[0]!, {
        state: 'failed',
        phone_state: 'ended',
        outcome: lost,
        disposition: 'error',
        engine_lost: true,
      }),
    )
    expect(end).toBe('finished')
  })

  it('a dead owner’s run is taken over again after its reaper died, with the last renewal of its original owner', async () => {
    const run = await owned(test, scope)
    await letLeaseEnd(test, run)
    const first = (await test.database.runs.reap(REAPER, 1000, 60_000)).find(one => one.run_id === run.run_id)!
    await test.owner.query('update parley.run_ownership set lease_until = now() where run_id = $1', [run.run_id])
    const second = (await test.database.runs.reap({ engine: 'worker-2', worker: null }, 1000)).find(
      one => one.run_id === run.run_id,
    )!
    expect(second).toMatchObject({ fence: '3', lost_engine: 'worker-9', last_renewed_at: first.last_renewed_at })
  })
})
