import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { listEffects } from '../runs/effects.ts'
import { cancelRun } from '../runs/finish.ts'
import { moveRun } from '../runs/ownership.ts'
import type { RunOwnership } from '../runs/protocol.ts'
import {
  admitted,
  CHAT,
  CHAT_OVER,
  letLeaseEnd,
  OUTBOUND,
  owned,
  REAPER,
  rowOf,
  talesOn,
  workspace,
} from '../runs/runs.fixture.ts'
import { writeCheckpoint } from '../runs/transcripts.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { settleAnalysis, takeAnalyses } from './analyses.ts'
import type { ReapOptions } from './protocol.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test, { capacity: 10_000 })
})
afterAll(() => test?.close())

const { running, end } = talesOn(() => test)
const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)
const utterance = { index: 0, role: 'user', text: 'Hello' }

async function reap(options: Partial<ReapOptions> = {}) {
  const askedAt = await test.database.jobs.clock()
  return test.database.jobs.reap(REAPER, { askedAt, atMost: 100, leaseMs: 24_000, restMs: 0, ...options })
}

describe('a run whose owner died', () => {
  it('a run whose owner died is found with the facts that decide its ending', async () => {
    const run = await running(scope)
    await within(tx => moveRun(tx, scope, run, { phone_state: 'active' }))
    const before = performance.now()
    await test.owner.query(
      `insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields)
       values ($1, $2, 2, now() - interval '14 s', 'state', '{"state": "running", "phone_state": "active"}'),
         ($1, $2, 3, now() - interval '10 s', 'state', '{"state": "running", "phone_state": "active"}')`,
      [scope.tenant_id, run.run_id],
    )
    await within(tx => cancelRun(tx, scope, run.run_id))
    await letLeaseEnd(test, run)
    const [lost, ...others] = await reap()
    const tookMs = performance.now() - before
    expect(others).toEqual([])
    expect(lost).toMatchObject({
      run_id: run.run_id,
      scope,
      kind: 'phone',
      cancel_asked: true,
      lost_engine: 'engine-1',
    })
    expect(lost!.renewed_ms_ago).toBeGreaterThanOrEqual(9000)
    expect(lost!.renewed_ms_ago).toBeLessThanOrEqual(9001 + tookMs)
    // From active (14 s ago) to the last renewal (9 s ago).
    expect(Number(lost!.connected_ms)).toBeGreaterThanOrEqual(5000)
    expect(Number(lost!.connected_ms)).toBeLessThanOrEqual(5001 + tookMs)
    expect(await reap()).toEqual([])
  })

  it('runs are not taken for lost until the server has been up for a lease', async () => {
    const run = await running(scope)
    await letLeaseEnd(test, run)
    const { rows } = await test.owner.query(
      'select extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000 as up',
    )
    expect(await reap({ restMs: Math.ceil(Number(rows[0].up)) + 60_000 })).toEqual([])
    expect(await reap()).toMatchObject([{ run_id: run.run_id }])
  })

  it('a slow search finds no lost runs, because the server may have been suspended', async () => {
    const run = await running(scope)
    await letLeaseEnd(test, run)
    const askedAt = new Date(Date.parse(await test.database.jobs.clock()) - 2500).toISOString()
    expect(await reap({ askedAt })).toEqual([])
    expect(await reap()).toMatchObject([{ run_id: run.run_id }])
  })
})

/** A chat of an agent whose publication wants an analysis, or not. */
async function chat(agent: string, said: boolean): Promise<RunOwnership> {
  const run = await owned(test, scope, { ...CHAT, agent_id: agent })
  await within(tx => moveRun(tx, scope, run, { state: 'running' }))
  if (said) await within(tx => writeCheckpoint(tx, scope, run, [utterance], {}))
  return run
}

describe('an analysis', () => {
  beforeAll(async () => {
    await test.owner.query(
      `update parley.publications set plan = '{"analysis": {"model": null, "items": [{"type": "system-presets", "name": "call_summary"}]}}'
       where tenant_id = $1 and agent_id = 'other'`,
      [scope.tenant_id],
    )
  })
  const take = () => within(tx => takeAnalyses(tx, scope, 60_000, 100, 3))
  const analysis = { summary: 'They said hello.' }
  const tokens = { meter: 'llm_input_tokens', provider: 'test', model_id: 'm', quantity: 12 } as const
  const inference = {
    sends: 2,
    created_at: '2026-01-01T00:00:00.000Z',
    error_code: null,
    measurements: [tokens],
  }

  it('an analysis is due when a run with speech ends and its publication defines one', async () => {
    const [silent, unasked, asked] = [
      await chat('other', false),
      await chat('greeter', true),
      await chat('other', true),
    ]
    for (const run of [silent, unasked, asked]) await end(scope, run, CHAT_OVER)
    expect(await take()).toEqual([{ run_id: asked.run_id, scope, attempts: 1 }])
    expect(await take()).toEqual([])
  })

  it('an analysis is due for a cancelled run and for a run whose owner died', async () => {
    const cancelled = await chat('other', true)
    await end(scope, cancelled, { ...CHAT_OVER, state: 'cancelled' })
    const lost = await chat('other', true)
    await letLeaseEnd(test, lost)
    const [reaped] = await reap()
    await end(scope, reaped!, { ...CHAT_OVER, state: 'failed', engine_lost: true })
    expect((await take()).map(due => due.run_id)).toEqual([cancelled.run_id, lost.run_id])
  })

  it('an analysis is stored once, with its model request, usage and webhook', async () => {
    const run = await owned(test, scope, { ...CHAT, agent_id: 'other', notifies: true })
    await within(tx => moveRun(tx, scope, run, { state: 'running' }))
    await within(tx => writeCheckpoint(tx, scope, run, [utterance], {}))
    await end(scope, run, CHAT_OVER)
    const [due] = await take()
    const result = { kind: 'made', analysis, disposition: 'greeted', successful: true } as const
    expect(await within(tx => settleAnalysis(tx, due!, result, inference))).toBe('settled')
    expect(await rowOf(test, run.run_id)).toMatchObject({
      analysis,
      disposition: 'greeted',
      successful: true,
      llm_input_tokens: '12',
    })
    const [row] = await listEffects(test.database.within(scope), scope, run.run_id)
    expect(row).toMatchObject({ effect_kind: 'gateway_inference', state: 'succeeded', send_attempts: 2 })
    expect(new Set(row!.receipts.map(({ attempt_id }) => attempt_id)).size).toBe(2)
    const { rows } = await test.owner.query(
      "select event, payload #>> '{analysis,summary}' as summary from parley.outbox where run_id = $1 order by outbox_id",
      [run.run_id],
    )
    expect(rows).toEqual([
      { event: 'run.ended', summary: null },
      { event: 'run.analyzed', summary: analysis.summary },
    ])
    expect(await within(tx => settleAnalysis(tx, due!, result, inference))).toBe('lost')
  })

  it('analyses are claimed per environment, longest due first, and the environment stays listed until all are claimed', async () => {
    const scopes = [await test.scope(), await test.scope()].sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1))
    const [one, other] = scopes as [Scope, Scope]
    for (const [{ tenant_id }, count] of [
      [one, 9],
      [other, 2],
    ] as const)
      await test.owner.query(
        `insert into parley.run_analyses (tenant_id, run_id, next_at)
         select $1, uuidv7(), now() - n * interval '1 minute' from generate_series(1, $2::integer) n`,
        [tenant_id, count],
      )
    const due = async (after: string | null, atMost = 10_000) =>
      (await test.database.jobs.environmentsDue('analyses', after, atMost)).filter(({ tenant_id }) =>
        scopes.some(scope => scope.tenant_id === tenant_id),
      )
    const takeOf = (scope: Scope, atMost: number) =>
      test.database.transaction(scope, tx => takeAnalyses(tx, scope, 60_000, atMost, 3))
    expect(await due(null)).toEqual([one, other])
    expect(await due(one.tenant_id, 1)).toEqual([other])
    expect(await takeOf(one, 5)).toHaveLength(5)
    expect(await takeOf(other, 5)).toHaveLength(2)
    expect(await due(null)).toEqual([one])
    await test.owner.query('delete from parley.run_analyses where tenant_id = any($1)', [
      scopes.map(({ tenant_id }) => tenant_id),
    ])
  })

  it('an analysis belongs to its claimer while the lease lasts, and not to the first claimer after that', async () => {
    const run = await chat('other', true)
    await end(scope, run, CHAT_OVER)
    const [first] = await within(tx => takeAnalyses(tx, scope, 60_000, 1, 3))
    await test.owner.query("update parley.run_analyses set lease_until = now() - interval '1 ms' where run_id = $1", [
      run.run_id,
    ])
    const [second] = await take()
    expect(second).toMatchObject({ run_id: run.run_id, attempts: 2 })
    const result = { kind: 'made', analysis, successful: null } as const
    expect(await within(tx => settleAnalysis(tx, first!, result, inference))).toBe('lost')
    expect(await rowOf(test, run.run_id)).toMatchObject({ analysis: null, llm_input_tokens: null })
    expect(await within(tx => settleAnalysis(tx, second!, { kind: 'again', inMs: 0 }, inference))).toBe('settled')
    // What a try in vain used is paid for as well.
    expect(await rowOf(test, run.run_id)).toMatchObject({ analysis: null, llm_input_tokens: '12' })
  })

  it('an analysis is given up after the workers that claimed it died repeatedly', async () => {
    const run = await chat('other', true)
    await end(scope, run, CHAT_OVER)
    const taken: number[] = []
    for (let round = 0; round < 5; round++) {
      taken.push(...(await take()).filter(due => due.run_id === run.run_id).map(due => due.attempts))
      await test.owner.query(
        "update parley.run_analyses set lease_until = now() - interval '1 ms' where lease_until is not null",
      )
    }
    expect(taken).toEqual([1, 2, 3])
    const { rows } = await test.owner.query('select error_code from parley.run_analyses where run_id = $1', [
      run.run_id,
    ])
    expect(rows).toEqual([{ error_code: 'owner_lost' }])
  })

  it('an analysis is never due for an expired run', async () => {
    const runId = await admitted(test, scope, { ...OUTBOUND, agent_id: 'other' })
    await test.owner.query("update parley.run_ownership set start_before = now() - interval '1 s' where run_id = $1", [
      runId,
    ])
    expect((await test.database.runs.expire(10)).map(run => run.run_id)).toEqual([runId])
    expect(await take()).toEqual([])
  })
})
