import {
  cancelRun,
  claimRun,
  type Database,
  finishRun,
  insertWebCall,
  type JsonObject,
  type RunOwnership,
} from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FarEndReply } from '../protocol.ts'
import { CHAT, JobsHarness, SOON } from '../testing/jobs-harness.ts'
import { Reaper, type ReaperOptions } from './reaper.ts'

let test: TestDatabase
let harness: JobsHarness
let count = 0
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  // What a test left behind is nobody's business.
  await test.owner.query('delete from parley.run_ownership')
  harness = await JobsHarness.open(test)
})

const OK: FarEndReply = { confirmed: true, status: 200, detail: 'BYE answered 200' }
const SILENCE: FarEndReply = { confirmed: false, status: null, detail: 'no answer' }
const ACTIVE = [
  { state: 'running', phone_state: 'dialing' },
  { phone_state: 'ringing' },
  { phone_state: 'active', contact: 'human' },
] as const
const RINGING = ACTIVE.slice(0, 2)
const DIAL = { callId: 'dial' }
const DIALOG = { callId: 'dialog' }

/** A far end that answers what it is told, and what it was asked. */
function farEnd(...replies: readonly (FarEndReply | 'nothing')[]) {
  const left = [...replies]
  const asked: [string, JsonObject][] = []
  const answer = (method: string) => (what: JsonObject) => {
    asked.push([method, what])
    const reply = left.length > 1 ? left.shift()! : (left[0] ?? OK)
    return reply === 'nothing' ? new Promise<FarEndReply>(() => {}) : Promise.resolve(reply)
  }
  return { asked, bye: answer('BYE'), cancel: answer('CANCEL') }
}

function reaper(options: Partial<ReaperOptions> = {}): Reaper {
  const { bus, queue, time, counters, wake, log } = harness
  return new Reaper({
    database: test.database,
    bus,
    queue,
    time,
    counters,
    wake,
    log,
    everyMs: 3000,
    wallClock: () => Date.now(),
    owner: { engine: `worker-${count++}`, worker: 'reaper' },
    farEnd: farEnd(),
    ...options,
  })
}

/** A reaper that owners had the time to renew before. */
async function rested(options: Partial<ReaperOptions> = {}): Promise<Reaper> {
  const one = reaper({ leaseMs: 100, ...options })
  await one.round()
  harness.time.advance(100)
  return one
}

/** The database with other methods for jobs. */
function databaseWith(methods: Partial<Database['jobs']>): Database {
  const jobs = { ...test.database.jobs, ...methods }
  return new Proxy(test.database, {
    get: (target, name) => {
      if (name === 'jobs') return jobs
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** A database whose owners renewed exactly this many ms ago: its own clock goes on while a test runs. */
const renewedAgo = (renewed_ms_ago: number) =>
  databaseWith({
    reap: async (...request) => {
      const lost = await test.database.jobs.reap(...request)
      return lost.map(run => ({ ...run, renewed_ms_ago }))
    },
  })

/** The run ends, and its call goes on in another one. */
const handedOver = (run: RunOwnership, phone_state?: 'ended') =>
  harness.write(tx =>
    finishRun(tx, harness.scope, run, {
      state: 'completed',
      ...(phone_state && { phone_state }),
      outcome: { kind: 'transferred', detail: null, sip_status: null, ended_by: 'agent' },
      disposition: 'transferred',
    }),
  )

const permits = () => harness.permits()

/** Long enough for whoever would write to the database now. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await permits()
}

describe('the room of a dead engine', () => {
  const WEB = { channel: 'web', mode: 'inbound', from_number: null, to_number: null, trunk_id: null } as const
  const webRun = async (kind: 'direct' | 'livekit') => {
    const run = await harness.run({ moves: [{ state: 'running' }] }, WEB)
    const call = {
      run_id: run.run_id,
      token_hash: Buffer.from(run.run_id),
      validForMs: 60_000,
      site_key_id: null,
      kind,
    }
    await harness.write(tx => insertWebCall(tx, harness.scope, call))
    await harness.kill(run)
    return run.run_id
  }
  const roomServer = (failure?: Error) => {
    const deleted: string[] = []
    const deleteRoom = async (runId: string) => {
      deleted.push(runId)
      if (failure !== undefined) throw failure
      return `parley-${runId}`
    }
    return { deleted, deleteRoom }
  }

  it('the room of a web call by LiveKit is deleted, and the run ends as lost; a direct call has none', async () => {
    const runId = await webRun('livekit')
    const direct = await webRun('direct')
    const rooms = roomServer()
    await (await rested({ rooms })).round()
    for (const run of [runId, direct])
      expect(await harness.ended(run)).toMatchObject({ state: 'failed', outcome: { detail: 'engine_lost' } })
    expect(rooms.deleted).toEqual([runId])
    expect(await harness.effects(runId)).toMatchObject([
      {
        effect_kind: 'rtc_room',
        action: { id: 'room.delete' },
        state: 'succeeded',
        receipts: [{ kind: 'rtc_room', resource_id: `parley-${runId}` }],
      },
    ])
    expect(await harness.effects(direct)).toEqual([])
    expect(harness.problems).toEqual([])
  })

  it('the room of a call that another run continued is deleted once, under the name of the first run', async () => {
    for (const order of ['together', 'handed over'] as const) {
      const source = await harness.run({ moves: [{ state: 'running' }] }, WEB)
      await harness.write(tx =>
        insertWebCall(tx, harness.scope, {
          run_id: source.run_id,
          token_hash: Buffer.from(source.run_id),
          validForMs: 60_000,
          site_key_id: null,
          kind: 'livekit',
        }),
      )
      const successor = await harness.continued(source)
      if (order === 'handed over') await handedOver(source)
      else await harness.kill(source)
      await harness.kill(successor)
      const rooms = roomServer()
      await (await rested({ rooms })).round()
      for (const run of [source, successor]) await harness.ended(run.run_id)
      expect(rooms.deleted, order).toEqual([source.run_id])
    }
  })

  it('a server that does not answer leaves the effect uncertain, and the run ends all the same', async () => {
    const runId = await webRun('livekit')
    await (await rested({ rooms: roomServer(new Error('no answer')) })).round()
    expect(await harness.ended(runId)).toMatchObject({ state: 'failed', outcome: { detail: 'engine_lost' } })
    expect(await harness.effects(runId)).toMatchObject([{ state: 'uncertain', error_code: 'no_answer' }])
    expect(harness.problems).toHaveLength(1)
  })
})

describe('the call of a dead engine', () => {
  it('the call of a dead engine is hung up, its run ends as lost, and its permit is released once the far end confirms', async () => {
    const run = await harness.run({ moves: ACTIVE, dial: DIAL, dialog: DIALOG })
    await harness.say(run, 'Hello?', 'Hello.')
    await harness.kill(run)
    const far = farEnd(OK)
    await (await rested({ farEnd: far })).round()
    const row = await harness.ended(run.run_id)
    expect(far.asked).toEqual([['BYE', DIALOG]])
    expect(row).toMatchObject({
      state: 'failed',
      phone_state: 'ended',
      outcome: { kind: 'error', detail: 'engine_lost', sip_status: null, ended_by: 'system' },
      disposition: 'error',
    })
    expect(await permits()).toBe(0)
    expect(await harness.effects(run.run_id)).toMatchObject([
      {
        effect_kind: 'sip_hangup',
        state: 'succeeded',
        send_attempts: 1,
        receipts: [{ kind: 'sip_hangup', sip_status: 200, confirmed: true }],
      },
    ])
    expect((await harness.timeline(run.run_id)).slice(-2)).toMatchObject([
      { kind: 'error', code: 'engine_lost' },
      { kind: 'state', state: 'failed', phone_state: 'ended' },
    ])
    const { rows } = await test.owner.query('select state, final from parley.run_transcripts where run_id = $1', [
      run.run_id,
    ])
    expect(rows).toEqual([{ state: 'partial', final: false }])
    await vi.waitFor(() => expect(harness.bus.published).toContainEqual(['runs', run.run_id]), SOON)
    expect(harness.problems).toEqual([])
  })

  it('an engine that dies while two runs have its call leaves one BYE, whichever run is found first', async () => {
    for (const order of ['together', 'source first', 'successor first'] as const) {
      const source = await harness.run({ moves: ACTIVE, dial: DIAL, dialog: DIALOG })
      const successor = await harness.continued(source, DIALOG)
      const far = farEnd(OK)
      const one = await rested({ farEnd: far })
      const [first, second] = order === 'successor first' ? [successor, source] : [source, successor]
      await harness.kill(first)
      if (order === 'together') await harness.kill(second)
      await one.round()
      await harness.ended(first.run_id)
      if (order !== 'together') {
        await harness.kill(second)
        await (await rested({ farEnd: far })).round()
      }
      for (const run of [source, successor])
        expect(await harness.ended(run.run_id)).toMatchObject({ state: 'failed', outcome: { detail: 'engine_lost' } })
      expect(far.asked, order).toEqual([['BYE', DIALOG]])
      expect(await permits()).toBe(0)
    }
  })

  it('a run that had taken over the call before its engine died sends the BYE itself', async () => {
    const source = await harness.run({ moves: ACTIVE, dial: DIAL, dialog: DIALOG })
    const successor = await harness.continued(source, DIALOG)
    await handedOver(source, 'ended')
    await harness.kill(successor)
    const far = farEnd(OK)
    await (await rested({ farEnd: far })).round()
    await harness.ended(successor.run_id)
    expect(far.asked).toEqual([['BYE', DIALOG]])
    expect(await permits()).toBe(0)
  })

  it('an answered call of a dead engine is hung up, and its earlier targets, which may still ring, are cancelled', async () => {
    const [first, second] = [{ callId: 'first' }, { callId: 'second' }]
    const run = await harness.run({ moves: ACTIVE, dial: { ...DIAL, earlier: [first, second] }, dialog: DIALOG })
    await harness.kill(run)
    const far = farEnd(OK, 'nothing')
    await (await rested({ farEnd: far })).round()
    expect(await harness.ended(run.run_id)).toMatchObject({ state: 'failed', outcome: { detail: 'engine_lost' } })
    expect(far.asked).toEqual([
      ['BYE', DIALOG],
      ['CANCEL', first],
      ['CANCEL', second],
    ])
    expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'succeeded', receipts: [{ confirmed: true }] }])
  })

  it('cancelled earlier targets do not confirm that an answered call is over', async () => {
    const run = await harness.run({ moves: ACTIVE, dial: { ...DIAL, earlier: [{ callId: 'first' }] }, dialog: DIALOG })
    await harness.kill(run)
    const far = farEnd('nothing', OK)
    await (await rested({ farEnd: far, database: renewedAgo(10_000) })).round()
    await vi.waitFor(() => expect(far.asked.map(([method]) => method)).toEqual(['BYE', 'CANCEL']), SOON)
    harness.time.advance(17_999)
    await settle()
    expect(await permits()).toBe(1)
    harness.time.advance(1)
    await harness.ended(run.run_id)
    expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'uncertain', receipts: [{ confirmed: false }] }])
  })

  it('an unanswered call of a dead engine is cancelled', async () => {
    const run = await harness.run({ moves: RINGING, dial: DIAL })
    await harness.kill(run)
    const far = farEnd({ ...OK, detail: 'CANCEL answered 200' })
    await (await rested({ farEnd: far })).round()
    expect(await harness.ended(run.run_id)).toMatchObject({
      state: 'failed',
      phone_state: 'setup_failed',
      disposition: 'engine_lost',
    })
    expect(far.asked).toEqual([['CANCEL', DIAL]])
  })

  it('a call without a confirmed hang-up holds its permit until 28 s after the last renewal, as its receipt says', async () => {
    const run = await harness.run({ moves: ACTIVE, dial: DIAL, dialog: DIALOG })
    await harness.kill(run)
    const far = farEnd('nothing')
    await (await rested({ farEnd: far, database: renewedAgo(10_000) })).round()
    await vi.waitFor(() => expect(far.asked).toHaveLength(1), SOON)
    harness.time.advance(17_999)
    await settle()
    expect(await permits()).toBe(1)
    expect(await harness.read(run.run_id)).toMatchObject({ ended_at: null })
    harness.time.advance(1)
    expect(await harness.ended(run.run_id)).toMatchObject({ state: 'failed', outcome: { detail: 'engine_lost' } })
    expect(await permits()).toBe(0)
    expect(await harness.effects(run.run_id)).toMatchObject([
      {
        state: 'uncertain',
        error_code: 'unconfirmed',
        receipts: [{ sip_status: null, confirmed: false }],
      },
    ])
  })

  it('an unreachable far end is retried until it confirms the hang-up', async () => {
    const run = await harness.run({ moves: ACTIVE, dialog: DIALOG })
    await harness.kill(run)
    const far = farEnd(SILENCE, SILENCE, OK)
    await (await rested({ farEnd: far })).round()
    for (const sends of [1, 2, 3]) {
      await vi.waitFor(async () => {
        expect(far.asked).toHaveLength(sends)
        expect((await harness.effects(run.run_id))[0]?.send_attempts).toBe(sends)
      }, SOON)
      // The pause between two sends, which all lie within the time that the far end has to confirm.
      if (sends < 3) harness.time.advance(3000)
    }
    await harness.ended(run.run_id)
    expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'succeeded', send_attempts: 3 }])
  })

  it('an answered CANCEL does not end an active call that has no stored dialog', async () => {
    const run = await harness.run({ moves: ACTIVE, dial: DIAL })
    await harness.kill(run)
    const far = farEnd({ ...OK, status: 481, detail: 'CANCEL answered 481' })
    await (await rested({ farEnd: far, database: renewedAgo(26_000) })).round()
    await vi.waitFor(() => expect(far.asked).toHaveLength(1), SOON)
    await settle()
    expect(await permits()).toBe(1)
    harness.time.advance(3000)
    await harness.ended(run.run_id)
    expect(await harness.effects(run.run_id)).toMatchObject([
      { state: 'uncertain', receipts: [{ sip_status: 481, confirmed: false }] },
    ])
  })

  it('an inbound call that rang without an answer holds its permit as long as it may ring', async () => {
    const run = await harness.run({}, { mode: 'inbound' })
    await harness.kill(run)
    await (await rested()).round()
    await settle()
    expect(await permits()).toBe(1)
    harness.time.advance(19_000)
    expect(await harness.ended(run.run_id)).toMatchObject({
      state: 'expired',
      phone_state: 'expired',
      disposition: 'expired',
    })
    expect(await harness.effects(run.run_id)).toEqual([])
  })

  it('a call whose reaper died too is hung up again, as the same effect sent twice', async () => {
    const run = await harness.run({ moves: ACTIVE, dialog: DIALOG })
    await harness.kill(run)
    const far = farEnd('nothing', OK)
    // It hangs on to the run as long as its lease lasts.
    await (await rested({ farEnd: far })).round()
    await vi.waitFor(() => expect(far.asked).toHaveLength(1), SOON)
    await harness.kill(run)
    await (await rested({ farEnd: far })).round()
    await harness.ended(run.run_id)
    expect(await harness.effects(run.run_id)).toMatchObject([{ state: 'succeeded', send_attempts: 2 }])
    harness.time.advance(30_000)
    await settle()
    expect(harness.problems).toEqual([])
    expect(await permits()).toBe(0)
  })
})

describe('a run whose owner died', () => {
  it('a run whose owner died before dialling is offered again, and expires when its owners die repeatedly', async () => {
    const { run_id } = await harness.admit()
    for (const round of [1, 2, 3]) {
      await harness.write(tx =>
        claimRun(tx, harness.scope, run_id, { engine: `engine-${round}`, worker: null }, 60_000),
      )
      await harness.kill({ run_id })
      await (await rested()).round()
      if (round < 3)
        await vi.waitFor(async () => {
          expect(harness.woken).toHaveLength(round)
          expect(await test.database.runs.waiting('phone', 9)).toMatchObject([{ run_id }])
        }, SOON)
    }
    expect(harness.woken[0]).toEqual({ kind: 'phone', run_id, scope: harness.scope })
    expect(await harness.ended(run_id)).toMatchObject({ state: 'expired', phone_state: 'expired', outcome: null })
    expect(await permits()).toBe(0)
  })

  it('a run whose owner died after a cancel request ends as cancelled', async () => {
    const far = farEnd(OK)
    const admitted = await harness.run()
    const talking = await harness.run({ moves: ACTIVE, dialog: DIALOG })
    for (const run of [admitted, talking]) {
      await harness.write(tx => cancelRun(tx, harness.scope, run.run_id))
      await harness.kill(run)
    }
    await (await rested({ farEnd: far })).round()
    const outcome = { kind: 'cancelled', sip_status: null, ended_by: 'operator' }
    expect(await harness.ended(admitted.run_id)).toMatchObject({
      state: 'cancelled',
      outcome: { ...outcome, detail: null },
    })
    expect(await harness.ended(talking.run_id)).toMatchObject({
      state: 'cancelled',
      phone_state: 'ended',
      outcome: { ...outcome, detail: 'engine_lost' },
    })
    expect(far.asked).toEqual([['BYE', DIALOG]])
  })

  it('a text run whose owner died ends at once, without a hang-up', async () => {
    const run = await harness.run({ moves: [{ state: 'running' }] }, CHAT)
    await harness.kill(run)
    const far = farEnd(OK)
    await (await rested({ farEnd: far })).round()
    expect(await harness.ended(run.run_id)).toMatchObject({ state: 'failed', phone_state: null })
    expect(far.asked).toEqual([])
  })

  it('a run whose owner died ends from every state', async () => {
    const phoneStates = [
      ...['admitted', 'preparing', 'awaiting_sip', 'dialing', 'ringing', 'active', 'terminating'],
      ...['ended', 'rejected', 'expired', 'setup_failed'],
    ]
    const stood = ['running', 'ending'].flatMap(state => phoneStates.map(phone_state => ({ state, phone_state })))
    const runs: RunOwnership[] = []
    for (const [place, { state, phone_state }] of stood.entries()) {
      const run = await harness.run(place % 2 === 0 ? {} : { dial: DIAL, dialog: DIALOG })
      await test.owner.query('update parley.runs set state = $2, phone_state = $3 where run_id = $1', [
        run.run_id,
        state,
        phone_state,
      ])
      await harness.kill(run)
      runs.push(run)
    }
    await (await rested()).round()
    for (const run of runs)
      await vi.waitFor(async () => {
        // Some may have a far end that cannot be told.
        harness.time.advance(1000)
        expect(await harness.read(run.run_id)).toMatchObject({ state: 'failed', ended_at: expect.any(String) })
      }, SOON)
    expect(harness.problems).toEqual([])
    expect(await permits()).toBe(0)
  })

  it('a lost run is handled by one of many reapers', async () => {
    const runs = await Promise.all(Array.from({ length: 12 }, () => harness.run({ moves: ACTIVE, dialog: DIALOG })))
    for (const run of runs) await harness.kill(run)
    const far = farEnd(OK)
    const reapers = await Promise.all([1, 2, 3, 4].map(() => rested({ farEnd: far })))
    await Promise.all(reapers.map(one => one.round()))
    for (const run of runs) await harness.ended(run.run_id)
    expect(far.asked).toHaveLength(12)
    expect(await permits()).toBe(0)
    expect(harness.counters.read()).toMatchObject({ runs_reaped: 12, hangups_confirmed: 12, hangups_unconfirmed: 0 })
  })

  it('a closing reaper releases a lost run for another reaper', async () => {
    const run = await harness.run({ moves: ACTIVE, dialog: DIALOG })
    await harness.kill(run)
    const far = farEnd('nothing')
    const first = await rested({ farEnd: far })
    await first.round()
    await vi.waitFor(() => expect(far.asked).toHaveLength(1), SOON)
    await first.close()
    expect(await harness.read(run.run_id)).toMatchObject({ ended_at: null })
    await harness.kill(run)
    await (await rested({ farEnd: farEnd(OK) })).round()
    await harness.ended(run.run_id)
  })
})

describe('a reaper', () => {
  let run: RunOwnership
  const isTaken = async () => (await harness.read(run.run_id)).ended_at !== null
  beforeEach(async () => {
    run = await harness.run({ moves: [{ state: 'running' }] }, CHAT)
    await harness.kill(run)
  })

  it('a new reaper waits for one lease, so that owners can renew after a database outage', async () => {
    const one = reaper({ leaseMs: 500 })
    await one.round()
    harness.time.advance(499)
    await one.round()
    await settle()
    expect(await isTaken()).toBe(false)
    harness.time.advance(1)
    await one.round()
    await harness.ended(run.run_id)
  })

  it('a reaper waits for one lease after the database was away', async () => {
    let isAway = false
    const clock = () => (isAway ? Promise.reject(new Error('away')) : test.database.jobs.clock())
    const database = databaseWith({ clock })
    const one = await rested({ database })
    isAway = true
    await expect(one.round()).rejects.toThrow('away')
    isAway = false
    await one.round()
    harness.time.advance(99)
    await one.round()
    await settle()
    expect(await isTaken()).toBe(false)
    harness.time.advance(1)
    await one.round()
    await harness.ended(run.run_id)
  })

  it('a reaper waits for one lease after the database or the reaper itself was suspended', async () => {
    let stillMs = 0
    const clock = () => {
      harness.time.advance(stillMs)
      return test.database.jobs.clock()
    }
    const database = databaseWith({ clock })
    const one = await rested({ database })
    stillMs = 60
    await one.round()
    stillMs = 0
    await settle()
    expect(await isTaken()).toBe(false)
    harness.time.advance(100)
    // Its own round came late: everybody's may have.
    harness.time.advance(4000)
    await one.round()
    await settle()
    expect(await isTaken()).toBe(false)
    harness.time.advance(100)
    await one.round()
    await harness.ended(run.run_id)
  })
})
