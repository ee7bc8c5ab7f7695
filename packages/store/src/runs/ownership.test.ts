import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import type { PhoneState, RunState } from '../schema-runs.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { appendEvents, eventsAfter, listEvents, type NewEvent } from './events.ts'
import { cancelRun, finishRun } from './finish.ts'
import { claimRun, holdsRun, moveRun, releaseRun, storeDial, storeDialog } from './ownership.ts'
import type { OwnedRun } from './protocol.ts'
import {
  admitted,
  CHAT,
  CHAT_OVER,
  COMPLETED,
  counted,
  ENGINE,
  letLeaseEnd,
  OUTBOUND,
  owned,
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
const claim = (runId: string, owner = ENGINE, leaseMs = 60_000) =>
  within(tx => claimRun(tx, scope, runId, owner, leaseMs))
const event = (text: string): NewEvent => ({
  at: '2026-01-02T03:04:05.678Z',
  offset_ms: 12.5,
  kind: 'digits',
  fields: { direction: 'in', digits: text },
})

/** Everything an owner writes, with what it answers to one who has lost the run. */
const WRITES: readonly (readonly [string, (tx: Queries, run: OwnedRun) => Promise<unknown>])[] = [
  ['a move', (tx, run) => moveRun(tx, scope, run, { state: 'running' })],
  ['events', (tx, run) => appendEvents(tx, scope, run, 2, [event('1')])],
  ['the dial', (tx, run) => storeDial(tx, scope, run, { call_id: 'x' })],
  ['the dialog', (tx, run) => storeDialog(tx, scope, run, { call_id: 'x' })],
  ['a checkpoint', (tx, run) => writeCheckpoint(tx, scope, run, [], { segments: 0 })],
  ['a release', (tx, run) => releaseRun(tx, scope, run)],
  ['the end', (tx, run) => finishRun(tx, scope, run, COMPLETED)],
]

describe('a run that waits', () => {
  it('is found by its kind, and taken by one of many', async () => {
    const chat = await admitted(test, scope, CHAT)
    const phone = await admitted(test, scope)
    const waits = async (kind: 'chat' | 'phone') =>
      (await test.database.runs.waiting(kind, 1000)).map(run => run.run_id)
    expect(await waits('chat')).toContain(chat)
    expect(await waits('chat')).not.toContain(phone)
    expect((await test.database.runs.waiting('phone', 1000)).find(run => run.run_id === phone)).toEqual({
      run_id: phone,
      scope,
      admitted_at: expect.any(String),
    })
    const claims = await Promise.all(
      Array.from({ length: 16 }, (_, index) => claim(chat, { engine: `e-${index}`, worker: null })),
    )
    expect(claims.filter(claimed => claimed !== null)).toEqual([
      { run_id: chat, fence: '1', last_seq: 1, cancel_asked: false },
    ])
    expect(await waits('chat')).not.toContain(chat)
  })

  it('comes before those of a tenant that has more under way, or more that wait', async () => {
    const other = await workspace(test)
    const many: string[] = []
    for (let runs = 0; runs < 3; runs++) many.push(await admitted(test, scope, { ...CHAT, mode: 'task' }))
    const single = await admitted(test, other, { ...CHAT, mode: 'task' })
    const waits = async (underWay: readonly Scope[]) => {
      const of = underWay.map(({ tenant_id }) => tenant_id)
      return (await test.database.runs.waiting('task', 3, of)).map(run => run.run_id)
    }
    expect(await waits([])).toEqual([many[0], single, many[1]])
    expect(await waits([scope, scope, other])).toEqual([single, many[0], many[1]])
    expect(await waits([other, other])).toEqual([many[0], many[1], many[2]])
    for (const run_id of [...many, single])
      await test.owner.query('delete from parley.run_ownership where run_id = $1', [run_id])
  })

  it('is nobody’s after its time, and expires: 120 s for calls, 5 minutes for chats, a day in the background', async () => {
    const kinds = [
      OUTBOUND,
      CHAT,
      { ...CHAT, mode: 'background' },
      { ...OUTBOUND, channel: 'web', mode: 'inbound' },
    ] as const
    const seconds = [120, 300, 86_400, 120]
    for (const [index, request] of kinds.entries()) {
      const run_id = await admitted(test, scope, { ...request, notifies: true })
      const { rows } = await test.owner.query(
        'select extract(epoch from start_before - admitted_at)::int as s from parley.run_ownership where run_id = $1',
        [run_id],
      )
      expect(rows).toEqual([{ s: seconds[index] }])
      const before = await counted(test, scope)
      await test.owner.query(
        "update parley.run_ownership set start_before = now() - interval '1 ms' where run_id = $1",
        [run_id],
      )
      expect(await claim(run_id)).toBeNull()
      expect(await test.database.runs.expire(100)).toEqual([{ run_id, tenant_id: scope.tenant_id }])
      expect(await test.database.runs.expire(100)).toEqual([])
      expect(await rowOf(test, run_id)).toMatchObject({
        state: 'expired',
        phone_state: request.channel === 'phone' ? 'expired' : null,
        disposition: 'expired',
        outcome: null,
      })
      expect((await counted(test, scope)).live).toBe(before.live - 1)
      const events = await eventsAfter(test.database.within(scope), scope, run_id, 0, 10)
      expect(events.map(({ seq, fields }) => [seq, fields.state])).toEqual([
        [1, 'admitted'],
        [2, 'expired'],
      ])
      const { rows: told } = await test.owner.query('select event from parley.outbox where run_id = $1', [run_id])
      expect(told).toEqual([{ event: 'run.ended' }])
    }
  })

  it('is given back by an owner that did not start it, and rises to the next fence', async () => {
    const run_id = await admitted(test, scope, CHAT)
    const first = (await claim(run_id))!
    expect(await within(tx => releaseRun(tx, scope, first))).toBe('released')
    const second = (await claim(run_id))!
    expect(second.fence).toBe('2')
    await within(tx => moveRun(tx, scope, second, { state: 'running' }))
    expect(await within(tx => releaseRun(tx, scope, second))).toBe('not_allowed')
    expect(await within(tx => holdsRun(tx, scope, first))).toBe(false)
    expect(await within(tx => holdsRun(tx, scope, second))).toBe(true)
  })
})

describe('an owner', () => {
  it('keeps its runs by renewing them in one go, and is told what is asked of them', async () => {
    const runs = [await owned(test, scope), await owned(test, scope), await owned(test, scope)] as const
    expect(await within(tx => cancelRun(tx, scope, runs[1].run_id))).toBe('asked')
    const theirs = await owned(test, scope, OUTBOUND, { engine: 'another', worker: null })
    await letLeaseEnd(test, runs[2])
    // Somebody took it over.
    await test.owner.query('update parley.run_ownership set fence = fence + 1 where run_id = $1', [runs[2].run_id])
    const kept = await test.database.runs.renew(ENGINE.engine, [...runs, theirs, { ...runs[0], fence: '7' }])
    expect(kept.toSorted((one, other) => Number(one.cancel_asked) - Number(other.cancel_asked))).toEqual([
      { run_id: runs[0].run_id, busy: false, cancel_asked: false, last_update: 0 },
      { run_id: runs[1].run_id, busy: false, cancel_asked: true, last_update: 0 },
    ])
    const { rows } = await test.owner.query(
      "select lease_until between now() + interval '5 s' and now() + interval '9 s' as renewed from parley.run_ownership where run_id = $1",
      [runs[0].run_id],
    )
    expect(rows).toEqual([{ renewed: true }])
  })

  it('keeps a run whose lease ended while the database was away, as long as nobody took it', async () => {
    const run = await owned(test, scope)
    await letLeaseEnd(test, run)
    expect(await within(tx => holdsRun(tx, scope, run))).toBe(false)
    expect(await test.database.runs.renew(ENGINE.engine, [run])).toMatchObject([{ run_id: run.run_id }])
    expect(await within(tx => holdsRun(tx, scope, run))).toBe(true)
  })

  it('is not held up by a write to one run in renewing the others', async () => {
    const [busy, free] = [await owned(test, scope), await owned(test, scope)]
    await within(async tx => {
      await moveRun(tx, scope, busy, { state: 'running' })
      const kept = await test.database.runs.renew(ENGINE.engine, [busy, free])
      expect(new Map(kept.map(run => [run.run_id, run.busy]))).toEqual(
        new Map([
          [busy.run_id, true],
          [free.run_id, false],
        ]),
      )
    })
  })

  it.each(WRITES)('writes nothing once its lease has ended, although nobody took the run: %s', async (_what, write) => {
    const run = await owned(test, scope)
    await letLeaseEnd(test, run)
    const before = await rowOf(test, run.run_id)
    expect(await within(tx => write(tx, run))).toBe('lost')
    expect(await rowOf(test, run.run_id)).toEqual(before)
    const { rows } = await test.owner.query('select last_seq from parley.run_ownership where run_id = $1', [run.run_id])
    expect(rows).toEqual([{ last_seq: 1 }])
  })

  it.each(WRITES)('writes nothing once another has the run: %s', async (_what, write) => {
    const run = await owned(test, scope)
    await letLeaseEnd(test, run)
    const [taken] = (await test.database.runs.reap(REAPER, 100, 60_000)).filter(one => one.run_id === run.run_id)
    expect(await within(tx => write(tx, run))).toBe('lost')
    // The new owner may, which shows that it was the fence.
    expect(await within(tx => holdsRun(tx, scope, taken!))).toBe(true)
    expect(await within(tx => write(tx, taken!))).not.toBe('lost')
  })

  it.each(WRITES)('writes nothing in another environment: %s', async (_what, write) => {
    const other = await workspace(test)
    const run = await owned(test, other)
    expect(await within(tx => write(tx, run))).toBe('lost')
    expect(await rowOf(test, run.run_id)).toMatchObject({ state: 'admitted', dial: null })
  })

  it('cannot finish while another takes the run over: one of them has it', async () => {
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
  it('is taken by one reaper, with what ends its call', async () => {
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

  it('whose reaper died is taken again, with the time of its last true owner', async () => {
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

const STATES = ['admitted', 'running', 'ending', 'completed', 'failed', 'cancelled', 'rejected', 'expired'] as const
const TERMINAL = new Set<RunState>(['completed', 'failed', 'cancelled', 'rejected', 'expired'])

describe('a state', () => {
  const may = async (machine: string, from: string, to: string): Promise<boolean> =>
    (await test.owner.query('select parley.run_may_move($1, $2, $3) as may', [machine, from, to])).rows[0].may

  it('of a run moves as is documented, and terminal ones never', async () => {
    const legal: Record<string, readonly string[]> = {
      admitted: ['running', 'rejected', 'expired', 'cancelled'],
      running: ['ending', 'completed', 'failed', 'cancelled'],
      ending: ['completed', 'failed', 'cancelled'],
    }
    for (const from of STATES)
      for (const to of STATES)
        expect(await may('state', from, to), `${from} -> ${to}`).toBe(
          from === to || (legal[from]?.includes(to) ?? false),
        )
  })

  it('of a call never moves back, and never on from an end', async () => {
    const order: readonly (readonly PhoneState[])[] = [
      ['admitted'],
      ['preparing'],
      ['awaiting_sip', 'dialing'],
      ['ringing'],
      ['active'],
      ['terminating'],
      ['ended', 'rejected', 'expired', 'setup_failed'],
    ]
    const rankOf = new Map(order.flatMap((states, rank) => states.map(state => [state, rank] as const)))
    const paths = [
      ['admitted', 'preparing', 'dialing', 'ringing', 'active', 'terminating', 'ended'],
      ['admitted', 'preparing', 'awaiting_sip', 'active', 'terminating', 'ended'],
      ['ringing', 'setup_failed'],
      ['preparing', 'rejected'],
      ['admitted', 'expired'],
    ]
    for (const path of paths)
      for (const [index, to] of path.slice(1).entries())
        expect(await may('phone_state', path[index]!, to), to).toBe(true)
    for (const [from, rank] of rankOf)
      for (const [to, next] of rankOf)
        if (from !== to && (next <= rank || rank === 6))
          expect(await may('phone_state', from, to), `${from} -> ${to}`).toBe(false)
  })

  it.each([
    ['back', { state: 'running' }],
    ['back on the phone', { phone_state: 'dialing' }],
    ['out of the phone’s states', { phone_state: 'admitted' }],
  ] as const)('that would go %s is refused, and nothing changes', async (_what, move) => {
    const run = await owned(test, scope)
    await within(async tx => {
      await moveRun(tx, scope, run, { state: 'running', phone_state: 'active' })
      await moveRun(tx, scope, run, { state: 'ending' })
    })
    const before = await rowOf(test, run.run_id)
    expect(before.started_at).not.toBeNull()
    expect(await within(tx => moveRun(tx, scope, run, { contact: 'human', ...move }))).toBe('not_allowed')
    expect(await rowOf(test, run.run_id)).toEqual(before)
  })

  it('ends only as it may, and then for good', async () => {
    const run = await owned(test, scope)
    expect(TERMINAL.has(COMPLETED.state)).toBe(true)
    expect(await within(tx => finishRun(tx, scope, run, COMPLETED))).toBe('not_allowed')
    expect(await within(tx => holdsRun(tx, scope, run))).toBe(true)
    await within(tx => moveRun(tx, scope, run, { state: 'running', phone_state: 'active' }))
    expect(await within(tx => finishRun(tx, scope, run, COMPLETED))).toBe('finished')
    const ended = await rowOf(test, run.run_id)
    expect(await within(tx => finishRun(tx, scope, run, { ...COMPLETED, state: 'failed' }))).toBe('lost')
    expect(await within(tx => moveRun(tx, scope, run, { state: 'ending' }))).toBe('lost')
    expect(await within(tx => cancelRun(tx, scope, run.run_id))).toBe('ended')
    expect(await claim(run.run_id)).toBeNull()
    expect(await rowOf(test, run.run_id)).toEqual(ended)
  })
})

describe('the timeline', () => {
  it('has no gap and nothing twice, whatever is sent again', async () => {
    const run = await owned(test, scope)
    const append = (first: number, ...texts: string[]) =>
      within(tx => appendEvents(tx, scope, run, first, texts.map(event)))
    expect(await append(2, 'a', 'b')).toBe('appended')
    expect(await append(2, 'a', 'b')).toEqual({ kind: 'out_of_sequence', last_seq: 3 })
    expect(await append(5, 'd')).toEqual({ kind: 'out_of_sequence', last_seq: 3 })
    expect(await append(4)).toBe('appended')
    const racers = await Promise.all(Array.from({ length: 6 }, (_, index) => append(4, `r${index}`, 'x')))
    expect(racers.filter(answer => answer === 'appended')).toHaveLength(1)
    const db = test.database.within(scope)
    const first = await listEvents(db, scope, run.run_id, { cursor: null, limit: 3 })
    expect(first.rows.map(row => row.seq)).toEqual([1, 2, 3])
    expect(first.rows[1]).toEqual({ seq: 2, ...event('a') })
    const rest = await listEvents(db, scope, run.run_id, { cursor: first.next_cursor, limit: 3 })
    expect(rest).toMatchObject({ rows: [{ seq: 4 }, { seq: 5 }], next_cursor: null })
    expect((await eventsAfter(db, scope, run.run_id, 4, 10)).map(row => row.seq)).toEqual([5])
  })

  it('ends with the terminal state, after the last words; a gap in them ends nothing', async () => {
    const run = await owned(test, scope)
    await within(tx => moveRun(tx, scope, run, { state: 'running', phone_state: 'active' }))
    const finish = (first: number) =>
      within(tx => finishRun(tx, scope, run, COMPLETED, { events: { first, items: [event('9')] } }))
    expect(await finish(3)).toEqual({ kind: 'out_of_sequence', last_seq: 1 })
    expect(await within(tx => holdsRun(tx, scope, run))).toBe(true)
    expect(await finish(2)).toBe('finished')
    const { rows } = await listEvents(test.database.within(scope), scope, run.run_id, { cursor: null, limit: 9 })
    expect(rows.map(row => [row.seq, row.kind])).toEqual([
      [1, 'state'],
      [2, 'digits'],
      [3, 'state'],
    ])
    expect(rows[2]!.fields).toEqual({ state: 'completed', phone_state: 'ended' })
  })
})

describe('engines', () => {
  it('are known while they are heard', async () => {
    const { engines } = test.database.runs
    await engines.register({ engine_id: 'e-9', addresses: { sip: '10.0.0.1:5061' }, capacity: 40 })
    expect(await engines.heartbeat('e-9', 3, true)).toBe(true)
    expect(await engines.present(60_000)).toMatchObject([
      { engine_id: 'e-9', addresses: { sip: '10.0.0.1:5061' }, capacity: 40, live: 3, draining: true },
    ])
    expect(await engines.forgetSilent(60_000)).toEqual([])
    await test.owner.query("update parley.engines set heartbeat_at = now() - interval '2 minutes'")
    expect(await engines.present(60_000)).toEqual([])
    expect(await engines.forgetSilent(60_000)).toEqual(['e-9'])
    expect(await engines.heartbeat('e-9', 3, true)).toBe(false)
    await engines.register({ engine_id: 'e-9', addresses: {}, capacity: 1 })
    await engines.forget('e-9')
    expect(await engines.present(60_000)).toEqual([])
  })
})
