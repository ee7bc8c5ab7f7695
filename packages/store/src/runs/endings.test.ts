import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { addUsage, cancelRun, finishRun, writeAnalysis } from './finish.ts'
import { announce, announceAnalysis, settleSend, takeWebhooks } from './outbox.ts'
import { addSegment, moveRecording, openRecording, readRecording } from './recordings.ts'
import {
  CHAT,
  CHAT_OVER,
  COMPLETED,
  counted,
  letLeaseEnd,
  OUTBOUND,
  REAPER,
  rowOf,
  talesOn,
  workspace,
} from './runs.fixture.ts'
import { readRun } from './runs.ts'
import { readTranscript, writeCheckpoint, writeFinalTranscript } from './transcripts.ts'
import { readUpdate, storeUpdate } from './updates.ts'
import { accountsOn, used } from './usage.fixture.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const { withinOf, running, end } = talesOn(() => test)
const { install, usage } = accountsOn(() => test)

describe('the end of a run', () => {
  it('the end of a run stores state, transcript, usage, webhook and permit release atomically', async () => {
    const scope = await workspace(test)
    const run = await running(scope, { ...OUTBOUND, notifies: true })
    const ending = {
      ...COMPLETED,
      connected_ms: 1000,
      contact: 'human',
      successful: true,
      quality: { mos: 4 },
    } as const
    const transcript = {
      state: 'complete',
      utterances: [{ index: 0, text: 'Hello' }],
      checkpoint: null,
      content: null,
    } as const
    await expect(
      withinOf(scope)(async tx => {
        expect(await finishRun(tx, scope, run, ending, { transcript })).toBe('finished')
        throw new Error('the process dies')
      }),
    ).rejects.toThrow('the process dies')
    expect(await rowOf(test, run.run_id)).toMatchObject({ state: 'running', ended_at: null })
    expect(await readTranscript(test.database.within(scope), scope, run.run_id)).toBeNull()
    expect(await withinOf(scope)(tx => finishRun(tx, scope, run, ending, { transcript }))).toBe('finished')
    const ended = await readRun(test.database.within(scope), scope, run.run_id)
    expect(ended).toMatchObject({
      state: 'completed',
      contact: 'human',
      successful: true,
      connected_ms: 1000,
      quality: { mos: 4 },
    })
    expect(await readTranscript(test.database.within(scope), scope, run.run_id)).toEqual({ ...transcript, final: true })
    const { rows } = await test.owner.query('select event, payload from parley.outbox where run_id = $1', [run.run_id])
    expect(rows).toEqual([{ event: 'run.ended', payload: ended }])
    expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  })

  it('the end of a run after the death of its engine has the last checkpoint as transcript and its updates indeterminate', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    const within = withinOf(scope)
    for (const segments of [1, 2])
      expect(await within(tx => writeCheckpoint(tx, scope, run, [{ index: segments }], { segments }))).toBe('stored')
    const update = (await within(tx => storeUpdate(tx, scope, run.run_id, { metadata: null })))!
    await letLeaseEnd(test, run)
    const [reaped] = await test.database.runs.reap(REAPER, 1, 60_000)
    await end(scope, reaped!, { state: 'failed', engine_lost: true })
    const db = test.database.within(scope)
    expect(await readTranscript(db, scope, run.run_id)).toMatchObject({
      state: 'partial',
      final: false,
      utterances: [{ index: 2 }],
    })
    expect(await readUpdate(db, scope, run.run_id, update.revision)).toMatchObject({
      status: 'indeterminate',
      reason: 'engine_lost',
    })
    expect(await rowOf(test, run.run_id)).toMatchObject({ contact: 'unknown' })
  })

  it.each([
    { ...COMPLETED, outcome: { kind: 'caller_hung_up', detail: null, sip_status: 200, ended_by: 'caller' } },
    {
      state: 'failed',
      phone_state: 'setup_failed',
      outcome: { kind: 'error', detail: 'sip_error', sip_status: 503, ended_by: 'system' },
      disposition: 'sip_error',
    },
  ] as const)('a cancelled run ends as cancelled by the operator although its owner reports $state', async ending => {
    const scope = await workspace(test)
    const run = await running(scope)
    expect(await withinOf(scope)(tx => cancelRun(tx, scope, run.run_id))).toBe('requested')
    expect(await withinOf(scope)(tx => finishRun(tx, scope, run, ending))).toBe('finished')
    expect(await readRun(test.database.within(scope), scope, run.run_id)).toMatchObject({
      state: 'cancelled',
      phone_state: 'ended',
      outcome: { kind: 'cancelled', detail: null, sip_status: ending.outcome.sip_status, ended_by: 'operator' },
      disposition: 'cancelled',
    })
    expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  })

  it('the end of a run is followed by one analysis, whose cost is added', async () => {
    const scope = await workspace(test)
    await install(scope)
    const run = await running(scope, { ...CHAT, notifies: true })
    const found = {
      analysis: { summary: 'x' },
      disposition: 'booked',
      successful: true,
      measurements: [used('llm_output_tokens', 3)],
    }
    const analyse = () =>
      withinOf(scope)(async tx => {
        const isFirst = await writeAnalysis(tx, scope, run.run_id, found)
        if (isFirst) await announceAnalysis(tx, scope, run.run_id)
        return isFirst
      })
    expect(await analyse()).toBe(false)
    await end(scope, run, { ...CHAT_OVER, measurements: [used('llm_output_tokens', 3)] })
    expect(await analyse()).toBe(true)
    expect(await analyse()).toBe(false)
    await withinOf(scope)(tx => addUsage(tx, scope, run.run_id, []))
    expect((await usage(scope)).rows).toMatchObject([{ llm_output_tokens: 6, amount: '2' }])
    const { rows } = await test.owner.query(
      "select event, payload ->> 'disposition' as disposition from parley.outbox where run_id = $1 order by outbox_id",
      [run.run_id],
    )
    expect(rows).toEqual([
      { event: 'run.ended', disposition: 'completed' },
      { event: 'run.analyzed', disposition: 'booked' },
    ])
  })
})

describe('a final transcript', () => {
  it('a final transcript is not replaced by a late checkpoint', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    const final = { state: 'complete', utterances: [{ index: 1 }], checkpoint: null, content: null } as const
    await withinOf(scope)(async tx => {
      await writeFinalTranscript(tx, scope, run, final)
      await writeCheckpoint(tx, scope, run, [], { segments: 0 })
    })
    expect(await readTranscript(test.database.within(scope), scope, run.run_id)).toEqual({ ...final, final: true })
  })
})

describe('webhooks', () => {
  it('webhooks are sent in order within a run, by one sender each, and retried after a failure or the death of the sender', async () => {
    const scope = await workspace(test)
    const run = await running(scope, { ...OUTBOUND, notifies: true })
    await withinOf(scope)(tx => announce(tx, scope, run, 'run.started'))
    await end(scope, run)
    const take = async (leaseMs = 60_000) =>
      (await withinOf(scope)(tx => takeWebhooks(tx, scope, leaseMs, 1000))).filter(item => item.run_id === run.run_id)
    const taken = (await Promise.all(Array.from({ length: 6 }, () => take()))).flat()
    expect(taken).toMatchObject([{ event: 'run.started', attempts: 1, scope, payload: { state: 'running' } }])
    const settle = (item: (typeof taken)[number], result: Parameters<typeof settleSend>[2]) =>
      withinOf(scope)(tx => settleSend(tx, item, result))
    expect(await settle(taken[0]!, { kind: 'again', inMs: 60_000 })).toBe(true)
    expect(await take()).toEqual([])
    await test.owner.query('update parley.outbox set next_at = now() where run_id = $1', [run.run_id])
    const [dies] = await take()
    await test.owner.query('update parley.outbox set lease_until = now() where run_id = $1', [run.run_id])
    const [again] = await take()
    expect(again).toMatchObject({ event: 'run.started', attempts: 3 })
    expect(await settle(dies!, { kind: 'delivered' })).toBe(false)
    expect(await settle(again!, { kind: 'given_up' })).toBe(true)
    const [ended] = await take()
    expect(ended).toMatchObject({ event: 'run.ended', attempts: 1, payload: { state: 'completed' } })
    expect(await settle(ended!, { kind: 'delivered' })).toBe(true)
    expect(await take()).toEqual([])
  })

  it('webhooks are not written for agents without webhooks, nor by a process that lost the run', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    expect(await withinOf(scope)(tx => announce(tx, scope, run, 'run.started'))).toBe('announced')
    await letLeaseEnd(test, run)
    expect(await withinOf(scope)(tx => announce(tx, scope, run, 'run.started'))).toBe('lost')
    const { rows } = await test.owner.query('select from parley.outbox where run_id = $1', [run.run_id])
    expect(rows).toEqual([])
  })
})

describe('a recording', () => {
  it('a recording gets segments from its owner, and its later states from the worker', async () => {
    const scope = await workspace(test)
    const within = withinOf(scope)
    const run = await running(scope)
    const read = () => readRecording(test.database.within(scope), scope, run.run_id)
    expect(await read()).toBeNull()
    expect(await within(tx => openRecording(tx, scope, run, 'recording'))).toBe('stored')
    for (const index of [0, 1, 1]) await within(tx => addSegment(tx, scope, run, { index, blob: `b${index}` }))
    expect((await read())!.segments).toEqual([
      { index: 0, blob: 'b0' },
      { index: 1, blob: 'b1' },
    ])
    await end(scope, run)
    expect(await within(tx => addSegment(tx, scope, run, { index: 2 }))).toBe('lost')
    expect(await within(tx => openRecording(tx, scope, run, 'pending'))).toBe('lost')
    const content = { sha256: 'x' }
    expect(await within(tx => moveRecording(tx, scope, run.run_id, 'ready', content))).toBe(true)
    expect(await within(tx => moveRecording(tx, scope, run.run_id, 'processing'))).toBe(false)
    expect(await read()).toMatchObject({ state: 'ready', content })
  })
})
