import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { readBudget, writeBudget } from './budget.ts'
import { recordInference } from './effects.ts'
import { finishRun } from './finish.ts'
import { readRateCard } from './rate-cards.ts'
import { admit, admitted, CHAT, CHAT_OVER, COMPLETED, letLeaseEnd, REAPER, talesOn, workspace } from './runs.fixture.ts'
import { accountsOn, CARD, ever, rate, used } from './usage.fixture.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const { withinOf, running, end } = talesOn(() => test)
const { install, usage } = accountsOn(() => test)

describe('the cost of a run', () => {
  it('the cost of a run uses the most specific rate of each meter in the card at its admission', async () => {
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

  it('tokens of audio have prices of their own, or those of other tokens, and count among the tokens of the run', async () => {
    const spoken = [
      used('llm_input_tokens', 100, 'openai', 'gpt-realtime'),
      used('llm_audio_input_tokens', 400, 'openai', 'gpt-realtime'),
      used('llm_audio_output_tokens', 200, 'openai', 'gpt-realtime'),
    ]
    const costOf = async (rates: readonly ReturnType<typeof rate>[]) => {
      const scope = await workspace(test)
      await install(scope, { ...CARD, rates })
      await end(scope, await running(scope), { measurements: spoken })
      return (await usage(scope)).rows
    }
    const text = [rate('llm_input_tokens', 100, '1'), rate('llm_output_tokens', 100, '2')]
    expect(await costOf(text)).toMatchObject([{ llm_input_tokens: 500, llm_output_tokens: 200, amount: '9' }])
    const audio = [
      rate('llm_audio_input_tokens', 100, '10'),
      rate('llm_output_tokens', 100, '4', { provider: 'openai' }),
    ]
    expect(await costOf([...text, ...audio])).toMatchObject([{ amount: '49' }])
  })

  it('usage is filtered by what answered the calls', async () => {
    const scope = await workspace(test)
    for (const contact of ['human', 'voicemail', 'ivr', 'voicemail'] as const)
      await end(scope, await running(scope), { contact, connected_ms: 1000 })
    const runs = async (filter: { readonly contact?: readonly ('human' | 'voicemail' | 'ivr' | 'unknown')[] }) =>
      (await usage(scope, filter)).rows.map(row => row.runs)
    expect(await runs({})).toEqual([4])
    expect(await runs({ contact: ['voicemail'] })).toEqual([2])
    expect(await runs({ contact: ['voicemail', 'ivr'] })).toEqual([3])
    expect(await runs({ contact: ['unknown'] })).toEqual([])
  })

  it('the cost of a run is summed exactly and truncated to 12 digits, never rounded up', async () => {
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

  it('the cost of a run is null without a rate card and partial while runs are live; test runs are separate', async () => {
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

describe('the usage of a run whose engine died', () => {
  it('the usage of a run whose engine died is partial, and counts the tokens of the model requests in its ledger', async () => {
    const scope = await workspace(test)
    await install(scope)
    const run = await running(scope)
    const request = (effect_key: string, tokens: number) => ({
      effect_key,
      kind: 'gateway_inference',
      action: { id: 'model.infer', version: 1 },
      node_id: null,
      ordinal: null,
      state: 'succeeded' as const,
      created_at: '2026-01-02T03:04:05.678Z',
      usage: [used('llm_input_tokens', tokens, 'openai', 'big'), used('llm_output_tokens', 3, 'openai', 'big')],
    })
    await withinOf(scope)(tx => recordInference(tx, scope, run, [request('m-1', 400_000), request('m-2', 600_000)]))
    // A batch that is written again counts once.
    await withinOf(scope)(tx => recordInference(tx, scope, run, [request('m-2', 600_000)]))
    await letLeaseEnd(test, run)
    const [reaped] = await test.database.runs.reap(REAPER, 1, 60_000)
    const outcome = { kind: 'error', detail: 'engine_lost', sip_status: null, ended_by: 'system' }
    const ending = { ...COMPLETED, state: 'failed', outcome, disposition: 'error', engine_lost: true } as const
    expect(await withinOf(scope)(tx => finishRun(tx, scope, reaped!, ending))).toBe('finished')
    expect(await usage(scope)).toMatchObject({
      // 7 for a million tokens of this model, and 2 for six of its answers.
      rows: [{ runs: 1, llm_input_tokens: 1_000_000, llm_output_tokens: 6, completeness: 'partial' }],
      completeness: 'partial',
    })
    expect((await usage(scope)).rows[0]!.amount).toBe('9')
  })

  it('the usage of a run that ended by itself is what its process reports, whatever the ledger says', async () => {
    const scope = await workspace(test)
    await install(scope)
    const run = await running(scope)
    await end(scope, run, { connected_ms: 1000, measurements: [used('llm_input_tokens', 5)] })
    expect(await usage(scope)).toMatchObject({
      rows: [{ llm_input_tokens: 5, completeness: 'complete' }],
      completeness: 'complete',
    })
  })
})

describe('the monthly budget', () => {
  it('the monthly budget does not exist without a rate card; setting its cap requires the id of the last policy', async () => {
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

  it('the monthly budget contains the reserves of live runs, then their cost; the cap does not end live runs', async () => {
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

  it('the monthly budget counts a run in the month of its creation', async () => {
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
