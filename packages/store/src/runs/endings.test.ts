import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { readBudget, writeBudget } from './budget.ts'
import { addUsage, finishRun, type Measurement, type RunEnding, writeAnalysis } from './finish.ts'
import { announce, announceAnalysis, settleSend } from './outbox.ts'
import { moveRun, type OwnedRun } from './ownership.ts'
import { installRateCard, type RateCard, readRateCard } from './rate-cards.ts'
import { addSegment, moveRecording, openRecording, readRecording } from './recordings.ts'
import {
  admit,
  admitted,
  CHAT,
  CHAT_OVER,
  COMPLETED,
  counted,
  letLeaseEnd,
  OUTBOUND,
  owned,
  REAPER,
  rowOf,
  workspace,
} from './runs.fixture.ts'
import { listRuns, type RunFilter, readRun } from './runs.ts'
import { readTranscript, writeCheckpoint, writeFinalTranscript } from './transcripts.ts'
import { acknowledgeUpdate, pendingUpdates, readUpdate, settleUpdate } from './updates.ts'
import { summariseUsage, type UsageFilter } from './usage.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const withinOf =
  (scope: Scope) =>
  <Result>(work: (tx: Queries) => Promise<Result>) =>
    test.database.transaction(scope, work)

async function running(scope: Scope, request = OUTBOUND): Promise<OwnedRun> {
  const run = await owned(test, scope, request)
  await withinOf(scope)(tx => moveRun(tx, scope, run, { state: 'running' }))
  return run
}

const end = (scope: Scope, run: OwnedRun, ending: Partial<RunEnding> = {}) =>
  withinOf(scope)(tx => finishRun(tx, scope, run, { ...('outcome' in ending ? CHAT_OVER : COMPLETED), ...ending }))

const rate = (
  meter: Measurement['meter'],
  per: number,
  price_usd: string,
  of: Partial<RateCard['rates'][number]> = {},
) => ({
  meter,
  per,
  price_usd,
  channel: null,
  provider: null,
  model_id: null,
  ...of,
})
const CARD = {
  rate_card_id: 'card-1',
  effective_at: null,
  reserve_usd: { phone: '1', web: '1', cloud: '1' },
  rates: [
    rate('connected_ms', 3, '1'),
    rate('connected_ms', 60_000, '0.06', { channel: 'phone' }),
    rate('llm_input_tokens', 1_000_000, '3'),
    rate('llm_input_tokens', 1_000_000, '5', { provider: 'openai' }),
    rate('llm_input_tokens', 1_000_000, '7', { provider: 'openai', model_id: 'big' }),
    rate('llm_output_tokens', 3, '1'),
  ],
} as const
const used = (
  meter: Measurement['meter'],
  quantity: number,
  provider: string | null = null,
  model_id: string | null = null,
) => ({
  meter,
  quantity,
  provider,
  model_id,
})

const install = (scope: Scope, card: Parameters<typeof installRateCard>[2] = CARD) =>
  withinOf(scope)(tx => installRateCard(tx, scope, card))

const ever = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', cursor: null, limit: 50 } as const
const usage = (scope: Scope, filter: Partial<UsageFilter> = {}) =>
  summariseUsage(test.database.within(scope), scope, { ...ever, group_by: 'agent', purpose: 'billable', ...filter })

describe('what a run costs', () => {
  it('is the most specific rate of each meter, by the card it was admitted under', async () => {
    const scope = await workspace(test)
    await install(scope)
    const run = await running(scope)
    await install(scope, { ...CARD, rate_card_id: 'card-2', rates: [rate('connected_ms', 1, '1000')] })
    expect(await readRateCard(test.database.within(scope), scope)).toMatchObject({ rate_card_id: 'card-2' })
    await end(scope, run, {
      connected_ms: 90_000,
      measurements: [
        used('llm_input_tokens', 1_000_000, 'openai', 'big'),
        used('llm_input_tokens', 1_000_000, 'openai', 'small'),
        used('llm_input_tokens', 1_000_000, 'elsewhere', 'big'),
        used('stt_ms', 5000),
      ],
    })
    // 0.09 connected, 7 + 5 + 3 for tokens; speech to text has no rate.
    expect(await usage(scope)).toEqual({
      rows: [
        {
          key: 'greeter',
          runs: 1,
          connected_ms: 90_000,
          llm_input_tokens: 3_000_000,
          llm_output_tokens: null,
          stt_ms: 5000,
          tts_characters: null,
          amount: '15.09',
          completeness: 'complete',
        },
      ],
      completeness: 'complete',
      next_cursor: null,
    })
    await expect(install(scope)).rejects.toMatchObject({ code: 'rate_card_exists' })
  })

  it('is summed exactly and cut to 12 digits, never rounded up: three thirds are a whole, two are not', async () => {
    const scope = await workspace(test)
    await install(scope)
    const thirds = async (count: number) =>
      end(scope, await running(scope), { measurements: [used('llm_output_tokens', count)] })
    const cap = (usd: string) =>
      withinOf(scope)(async tx => writeBudget(tx, scope, usd, (await readBudget(tx, scope)).policy_id!))
    const budget = () => readBudget(test.database.within(scope), scope)
    await thirds(1)
    await thirds(1)
    await cap('1')
    expect((await usage(scope)).rows[0]!.amount).toBe('0.666666666666')
    expect(await budget()).toMatchObject({
      spent_usd: '0.666666666666',
      remaining_usd: '0.333333333334',
      exceeded: false,
    })
    await cap('9')
    await thirds(1)
    await cap('1')
    expect((await usage(scope)).rows[0]!.amount).toBe('1')
    expect(await budget()).toMatchObject({ spent_usd: '1', remaining_usd: '0', exceeded: true })
    await cap('9')
    await thirds(2)
    const first = await usage(scope, { group_by: 'run', limit: 2 })
    const rest = await usage(scope, { group_by: 'run', limit: 2, cursor: first.next_cursor })
    expect([...first.rows, ...rest.rows].map(row => row.amount)).toEqual([
      ...Array.from({ length: 3 }, () => '0.333333333333'),
      '0.666666666666',
    ])
    expect(rest.next_cursor).toBeNull()
  })

  it('is not known without a rate card, and partly while runs live; tests are apart', async () => {
    const scope = await workspace(test)
    await end(scope, await running(scope), { connected_ms: 10 })
    expect(await usage(scope)).toMatchObject({
      rows: [{ amount: null, completeness: 'unpriced' }],
      completeness: 'partial',
    })
    await install(scope)
    await end(scope, await running(scope), { connected_ms: 60_000 })
    await end(scope, await running(scope, { ...CHAT, test: true }), {
      ...CHAT_OVER,
      measurements: [used('llm_output_tokens', 3)],
    })
    await admitted(test, scope, { ...CHAT, agent_id: 'other' })
    const days = await usage(scope, { group_by: 'day' })
    expect(days.rows).toMatchObject([
      { key: new Date().toISOString().slice(0, 10), runs: 3, amount: '0.06', completeness: 'partial' },
    ])
    expect((await usage(scope)).rows).toMatchObject([
      { key: 'greeter', runs: 2, completeness: 'partial' },
      { key: 'other', runs: 1, amount: null, completeness: 'unpriced' },
    ])
    expect((await usage(scope, { agent_id: 'other' })).rows).toHaveLength(1)
    expect((await usage(scope, { purpose: 'test' })).rows).toMatchObject([{ runs: 1, amount: '1' }])
    expect((await usage(scope, { to: ever.from })).rows).toEqual([])
    // The test's dollar is not billed.
    expect((await readBudget(test.database.within(scope), scope)).spent_usd).toBe('0.06')
  })
})

describe('the budget', () => {
  it('is not there before a rate card; then its cap is set by whoever saw the last policy', async () => {
    const scope = await workspace(test)
    const read = () => readBudget(test.database.within(scope), scope)
    const set = (cap: string, policy: string) => withinOf(scope)(tx => writeBudget(tx, scope, cap, policy))
    expect(await read()).toMatchObject({
      configured: false,
      policy_id: null,
      period: null,
      spent_usd: null,
      exceeded: false,
    })
    expect(await set('5', 'policy/x')).toEqual({ kind: 'not_installed' })
    await install(scope)
    const first = await read()
    expect(first).toMatchObject({
      configured: true,
      cap_usd: null,
      spent_usd: '0',
      remaining_usd: null,
      exceeded: false,
    })
    const [one, other] = await Promise.all([set('5', first.policy_id!), set('6', first.policy_id!)])
    expect(new Set([one.kind, other.kind])).toEqual(new Set(['written', 'stale']))
    const now = await read()
    expect([one, other].find(answer => answer.kind === 'stale')).toEqual({ kind: 'stale', policy_id: now.policy_id })
    const month = new Date()
    const starts = Date.UTC(month.getUTCFullYear(), month.getUTCMonth())
    const ends = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
    expect(now.period).toEqual({ from: new Date(starts).toISOString(), to: new Date(ends).toISOString() })
  })

  it('holds what live runs reserve, then what they cost; the cap cuts no live run off', async () => {
    const scope = await workspace(test)
    await install(scope)
    const read = () => readBudget(test.database.within(scope), scope)
    const runs = [await running(scope), await running(scope)] as const
    expect(await read()).toMatchObject({ unresolved_runs: 2, spent_usd: '0' })
    await withinOf(scope)(async tx => writeBudget(tx, scope, '2', (await readBudget(tx, scope)).policy_id!))
    expect(await admit(test, scope)).toMatchObject({ reason: 'spend_cap', limit: '2', used: '2' })
    await end(scope, runs[0], { measurements: [used('llm_output_tokens', 9)] })
    expect(await read()).toMatchObject({ unresolved_runs: 1, spent_usd: '3', remaining_usd: '-1', exceeded: true })
    expect(await end(scope, runs[1])).toBe('finished')
    const { rows } = await test.owner.query('select reserved_usd::text from parley.run_counters where tenant_id = $1', [
      scope.tenant_id,
    ])
    expect(rows).toEqual([{ reserved_usd: '0' }])
  })

  it('belongs to the month in which the run was made', async () => {
    const scope = await workspace(test)
    await install(scope)
    const run = await running(scope)
    await test.owner.query("update parley.runs set created_at = '2026-01-31T23:59:59.999Z' where run_id = $1", [
      run.run_id,
    ])
    await end(scope, run, { measurements: [used('llm_output_tokens', 3)] })
    expect((await readBudget(test.database.within(scope), scope)).spent_usd).toBe('0')
    const { rows } = await test.owner.query(
      'select month::text, spent_usd::float from parley.spend_months where tenant_id = $1',
      [scope.tenant_id],
    )
    expect(rows).toContainEqual({ month: '2026-01-01', spent_usd: 1 })
  })
})

describe('the end of a run', () => {
  it('leaves state, transcript, usage, webhook and permit as one, or nothing at all', async () => {
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

  it('of an engine leaves the last checkpoint as the transcript, and what was asked of it in doubt', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    const within = withinOf(scope)
    for (const segments of [1, 2])
      expect(await within(tx => writeCheckpoint(tx, scope, run, [{ index: segments }], { segments }))).toBe('stored')
    const update = (await within(tx => acknowledgeUpdate(tx, scope, run.run_id, { metadata: null })))!
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

  it('is followed by the analysis, once, whose cost is added', async () => {
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
  it('stays, also when a checkpoint comes late', async () => {
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
  it('go out in order within a run, each by one sender, again after a failure or a dead sender', async () => {
    const scope = await workspace(test)
    const run = await running(scope, { ...OUTBOUND, notifies: true })
    await withinOf(scope)(tx => announce(tx, scope, run, 'run.started'))
    await end(scope, run)
    const take = async (leaseMs = 60_000) =>
      (await test.database.runs.takeOutbox(leaseMs, 1000)).filter(item => item.run_id === run.run_id)
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

  it('are not written for agents that have none, nor by who has lost the run', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    expect(await withinOf(scope)(tx => announce(tx, scope, run, 'run.started'))).toBe('announced')
    await letLeaseEnd(test, run)
    expect(await withinOf(scope)(tx => announce(tx, scope, run, 'run.started'))).toBe('lost')
    const { rows } = await test.owner.query('select from parley.outbox where run_id = $1', [run.run_id])
    expect(rows).toEqual([])
  })
})

describe('an update', () => {
  it('applies at once to a run that waits', async () => {
    const scope = await workspace(test)
    const run_id = await admitted(test, scope)
    const receipt = await withinOf(scope)(tx =>
      acknowledgeUpdate(tx, scope, run_id, { override_dynamic_variables: { name: 'Bob', extra: 'x' }, metadata: null }),
    )
    expect(receipt).toMatchObject({ revision: 1, status: 'applied', reason: null, completed_at: expect.any(String) })
    expect(await rowOf(test, run_id)).toMatchObject({ dynamic_variables: { name: 'Bob', extra: 'x' }, metadata: null })
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`v${index}`, 'x']))
    const refused = await withinOf(scope)(tx =>
      acknowledgeUpdate(tx, scope, run_id, { override_dynamic_variables: many }),
    )
    expect(refused).toMatchObject({ revision: 2, status: 'rejected', reason: 'too_many_variables' })
    expect((await rowOf(test, run_id)).dynamic_variables).toEqual({ name: 'Bob', extra: 'x' })
  })

  it('waits for the owner, who is told of it when it renews, and settles it once', async () => {
    const scope = await workspace(test)
    const within = withinOf(scope)
    const run = await running(scope)
    const change = { override_dynamic_variables: { name: 'Eve' } }
    const receipts = await Promise.all(
      [1, 2, 3].map(() => within(tx => acknowledgeUpdate(tx, scope, run.run_id, change))),
    )
    expect(receipts.map(receipt => receipt!.revision).toSorted()).toEqual([1, 2, 3])
    expect(await test.database.runs.renew('engine-1', [run])).toMatchObject([{ last_update: 3 }])
    const pending = await pendingUpdates(test.database.within(scope), scope, run.run_id)
    expect(pending).toMatchObject([{ revision: 1, change, status: 'acknowledged' }, { revision: 2 }, { revision: 3 }])
    expect(Date.parse(pending[0]!.deadline) - Date.parse(pending[0]!.acknowledged_at)).toBe(10_000)
    const settle = (revision: number, outcome: Parameters<typeof settleUpdate>[4]) =>
      within(tx => settleUpdate(tx, scope, run, revision, outcome))
    expect(await settle(1, { status: 'applying' })).toMatchObject({ status: 'applying', completed_at: null })
    expect(await settle(1, { status: 'applied' })).toMatchObject({ status: 'applied' })
    expect(await settle(1, { status: 'applied' })).toBeNull()
    expect((await rowOf(test, run.run_id)).dynamic_variables).toEqual({ name: 'Eve' })
    await test.owner.query('update parley.run_updates set deadline = now() where run_id = $1 and revision = 2', [
      run.run_id,
    ])
    expect(await test.database.runs.expireUpdates(100)).toBe(1)
    expect(await settle(2, { status: 'applied' })).toBeNull()
    await end(scope, run)
    const db = test.database.within(scope)
    expect(await readUpdate(db, scope, run.run_id, 2)).toMatchObject({ status: 'indeterminate', reason: 'deadline' })
    expect(await readUpdate(db, scope, run.run_id, 3)).toMatchObject({ status: 'rejected', reason: 'run_ended' })
    expect(await within(tx => acknowledgeUpdate(tx, scope, run.run_id, change))).toBeNull()
  })
})

describe('a recording', () => {
  it('grows by segments in its owner’s hands, then goes forward in the worker’s', async () => {
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

describe('runs are listed', () => {
  it('by every filter, newest first, each page once', async () => {
    const scope = await workspace(test)
    const trial = '0199a2f0-0000-7000-8000-000000000001'
    const phone = await running(scope)
    await end(scope, phone, { disposition: 'booked', contact: 'human', successful: true })
    const chat = await running(scope, { ...CHAT, agent_id: 'other' })
    await end(scope, chat, { ...CHAT_OVER, successful: false })
    const trialRun = await admitted(test, scope, { ...CHAT, test: true, trigger: { kind: 'test', test_run_id: trial } })
    const live = await admitted(test, scope)
    // One instant apart, so that they have an order.
    for (const [index, run_id] of [phone.run_id, chat.run_id, trialRun, live].entries())
      await test.owner.query(
        "update parley.runs set created_at = '2026-03-01Z'::timestamptz + $2 * interval '1 hour' where run_id = $1",
        [run_id, index],
      )
    const names = new Map([
      [phone.run_id, 'phone'],
      [chat.run_id, 'chat'],
      [trialRun, 'trial'],
      [live, 'live'],
    ])
    const list = async (filter: Partial<RunFilter>) => {
      const page = await listRuns(test.database.within(scope), scope, { cursor: null, limit: 50, ...filter })
      return { names: page.rows.map(row => names.get(row.run_id)).join(' '), cursor: page.next_cursor, rows: page.rows }
    }
    const cases: readonly (readonly [Partial<RunFilter>, string])[] = [
      [{}, 'live trial chat phone'],
      [{ agent_id: 'other' }, 'chat'],
      [{ channel: 'cloud' }, 'trial chat'],
      [{ state: 'admitted' }, 'live trial'],
      [{ after: '2026-03-01T01:00:00.000Z', before: '2026-03-01T03:00:00.000Z' }, 'trial chat'],
      [{ disposition: ['booked', 'unheard'] }, 'phone'],
      [{ contact: ['human', 'not_applicable'] }, 'trial chat phone'],
      [{ successful: true }, 'phone'],
      [{ successful: false }, 'chat'],
      [{ version: 1 }, 'live trial chat phone'],
      [{ version: 2 }, ''],
      [{ test: true }, 'trial'],
      [{ test: false }, 'live chat phone'],
      [{ test_run_id: trial }, 'trial'],
      [{ channel: 'phone', state: 'completed', contact: ['human'] }, 'phone'],
    ]
    for (const [filter, expected] of cases) expect((await list(filter)).names, JSON.stringify(filter)).toBe(expected)
    const first = await list({ limit: 3 })
    expect(first.names).toBe('live trial chat')
    expect((await list({ limit: 3, cursor: first.cursor })).names).toBe('phone')
    await expect(list({ test: true, cursor: first.cursor })).rejects.toMatchObject({ reason: 'invalid_cursor' })
    expect(first.rows[2]).toEqual(await readRun(test.database.within(scope), scope, chat.run_id))
  })

  it('for their own environment alone', async () => {
    const [ours, theirs] = [await workspace(test), await workspace(test)]
    const run_id = await admitted(test, theirs)
    expect(await readRun(test.database.within(ours), ours, run_id)).toBeNull()
    expect((await listRuns(test.database.within(ours), ours, { cursor: null, limit: 9 })).rows).toEqual([])
  })
})
