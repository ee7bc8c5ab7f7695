import { randomUUID } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { randomBelow, SeededRandom } from '@parley/kernel'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { workspace } from '../runs/runs.fixture.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { trunkHealth } from './trunk-health.ts'
import { saveTrunkPing, type TrunkPing } from './trunk-pings.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  scope = await workspace(test)
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, details)
     values ($1, 'carrier', 'Carrier', 'generic_sip', 'sbc.example.com', false, '{}')`,
    [scope.tenant_id],
  )
})

interface Made {
  readonly mode: 'outbound' | 'inbound'
  readonly minutesAgo: number
  /** Null: not answered. */
  readonly connectedMs: number | null
  readonly status: number | null
  /** From `dialing` to `ringing`; null: it never rang. */
  readonly delayMs: number | null
  readonly isSent: boolean
  readonly trunk: string
}

const CALL: Made = {
  mode: 'outbound',
  minutesAgo: 1,
  connectedMs: null,
  status: 486,
  delayMs: null,
  isSent: true,
  trunk: 'carrier',
}

async function store(calls: readonly Partial<Made>[]): Promise<readonly Made[]> {
  const made = calls.map(call => ({ ...CALL, ...call }))
  for (const { mode, minutesAgo, connectedMs, status, delayMs, isSent, trunk } of made) {
    const id = randomUUID()
    const isAnswered = connectedMs !== null
    await test.owner.query(
      `insert into parley.runs (tenant_id, run_id, agent_id, version, channel, mode, state, phone_state, outcome, trigger, test,
         created_at, ended_at, connected_ms, trunk_id, dynamic_variables, can_dial, notifies, invite_sent_at)
       select $1, $2, 'greeter', 1, 'phone', $3, $4, 'ended', $5, '{}', false,
         now() - $6 * interval '1 min', now() - $6 * interval '1 min' + interval '10 s', $7, $8, '{}', true, false,
         case when $9 then now() end`,
      [
        scope.tenant_id,
        id,
        mode,
        isAnswered ? 'completed' : 'failed',
        JSON.stringify({ kind: isAnswered ? 'completed' : 'error', detail: null, sip_status: status }),
        minutesAgo,
        connectedMs,
        trunk,
        isSent,
      ],
    )
    if (delayMs !== null)
      for (const [seq, phoneState, atMs] of [
        [2, 'dialing', 0],
        [3, 'ringing', delayMs],
        [4, 'active', delayMs + 5000],
      ])
        await test.owner.query(
          `insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields)
           values ($1, $2, $3, timestamptz '2026-01-01Z' + $4 * interval '1 ms', 'state', jsonb_build_object('state', 'running', 'phone_state', $5::text))`,
          [scope.tenant_id, id, seq, atMs, phoneState],
        )
  }
  return made
}

const health = () => trunkHealth(test.database.within(scope), scope, 'carrier')

describe('the figures of the calls of a trunk', () => {
  it('equal those computed from its runs of the last hour', async () => {
    const random = new SeededRandom(7)
    const below = (count: number) => randomBelow(random, count)
    const calls = await store(
      Array.from({ length: 60 }, () => {
        const isAnswered = below(2) === 0
        return {
          mode: below(4) === 0 ? ('inbound' as const) : ('outbound' as const),
          minutesAgo: 1 + below(90),
          connectedMs: isAnswered ? below(100_000) : null,
          status: isAnswered ? 200 : [404, 486, 503, null][below(4)]!,
          delayMs: below(3) === 0 ? null : below(9000),
          trunk: below(10) === 0 ? 'other' : 'carrier',
        }
      }),
    )
    const { outbound, inbound } = await health()
    const recent = calls.filter(({ minutesAgo, trunk }) => minutesAgo < 60 && trunk === 'carrier')
    for (const [mode, figures] of [
      ['outbound', outbound],
      ['inbound', inbound],
    ] as const) {
      const mine = recent.filter(call => call.mode === mode)
      const durations = mine.flatMap(({ connectedMs }) => connectedMs ?? [])
      const statuses = Map.groupBy(
        mine.filter(({ connectedMs }) => connectedMs === null),
        ({ status }) => status,
      )
      expect(figures).toMatchObject({
        calls: mine.length,
        answered: durations.length,
        asr: Math.round((durations.length / mine.length) * 1e4) / 1e4,
        acd_ms: Math.round(durations.reduce((sum, ms) => sum + ms, 0) / durations.length),
      })
      const counted = new Map(figures.failures.map(({ sip_status, calls }) => [sip_status, calls]))
      expect(counted).toEqual(new Map([...statuses].map(([status, those]) => [status, those.length])))
    }
    const delays = recent
      .filter(({ mode }) => mode === 'outbound')
      .flatMap(({ delayMs }) => delayMs ?? [])
      .sort((a, b) => a - b)
    const at = (share: number) => delays[Math.ceil(share * delays.length) - 1]
    expect(outbound.post_dial_delay_ms).toEqual({ p50: at(0.5), p95: at(0.95) })
  })

  it('a trunk without calls has no ratio, duration and delay', async () => {
    expect(await health()).toEqual({
      window_s: 3600,
      outbound: { calls: 0, answered: 0, asr: null, acd_ms: null, failures: [], post_dial_delay_ms: null },
      inbound: { calls: 0, answered: 0, asr: null, acd_ms: null, failures: [] },
      last_success_at: null,
      last_failure_at: null,
      ping: null,
      registration: null,
    })
  })

  it('a run that ended before it reached the trunk does not count', async () => {
    await store([{ isSent: false, status: null }])
    expect((await health()).outbound.calls).toBe(0)
  })

  it('the last answered and the last failed call are found within a day', async () => {
    await store([
      { minutesAgo: 100, connectedMs: 5, status: 200 },
      { minutesAgo: 300, connectedMs: 5, status: 200 },
      { minutesAgo: 200, status: 503 },
      { minutesAgo: 2000, status: 503 },
    ])
    const { last_success_at, last_failure_at } = await health()
    const minutesAgo = (at: string | null) => Math.round((Date.now() - Date.parse(at ?? '')) / 60_000)
    expect([minutesAgo(last_success_at), minutesAgo(last_failure_at)]).toEqual([100, 200])
  })
})

describe('the answers of a trunk to OPTIONS', () => {
  const server = (sip_status: number | null) => ({
    transport: 'tls' as const,
    address: '192.0.2.1',
    port: 5061,
    sip_status,
    error: sip_status === null ? 'timeout' : null,
    round_trip_ms: sip_status === null ? null : 12,
  })
  const save = (engine: string, state: TrunkPing['state'], secondsAgo = 0) =>
    test.database.transaction(scope, tx =>
      saveTrunkPing(tx, scope, 'carrier', engine, {
        state,
        targets: [server(state === 'unreachable' ? null : 200)],
        checked_at: new Date(Date.now() - secondsAgo * 1000).toISOString(),
      }),
    )

  it('the last success stays known while a trunk is unreachable', async () => {
    await save('e-1', 'reachable', 60)
    await save('e-1', 'unreachable')
    const { ping } = await health()
    expect(ping).toMatchObject({
      state: 'unreachable',
      engines: 1,
      engines_without_answer: 1,
      targets: [{ error: 'timeout' }],
    })
    expect(ping!.last_success_at! < ping!.last_failure_at!).toBe(true)
  })

  it('a trunk that some engines reach is partly reachable', async () => {
    await save('e-1', 'reachable')
    await save('e-2', 'unreachable')
    expect((await health()).ping).toMatchObject({ state: 'partly_reachable', engines: 2, engines_without_answer: 1 })
  })

  it('what an engine saw more than 5 min ago does not count, and is deleted after an hour', async () => {
    await save('gone', 'unreachable', 3601)
    expect((await health()).ping).toBeNull()
    await save('old', 'unreachable', 301)
    await save('e-1', 'reachable')
    expect((await health()).ping).toMatchObject({ state: 'reachable', engines: 1 })
    const { rows } = await test.owner.query(
      'select engine_id from parley.trunk_pings where tenant_id = $1 order by 1',
      [scope.tenant_id],
    )
    expect(rows.map(row => row.engine_id)).toEqual(['e-1', 'old'])
  })

  it('trunks over which people were called in the last day are found across environments', async () => {
    const dialling = async () =>
      (await test.database.telephony.diallingTrunks()).filter(trunk => trunk.scope.tenant_id === scope.tenant_id)
    await store([{ minutesAgo: 25 * 60 }, { mode: 'inbound', minutesAgo: 1 }, { trunk: 'another', minutesAgo: 1 }])
    expect(await dialling()).toEqual([])
    await test.owner.query('update parley.trunks set details = $2 where tenant_id = $1', [
      scope.tenant_id,
      { profile: 'twilio' },
    ])
    await store([{ minutesAgo: 23 * 60 }])
    expect(await dialling()).toMatchObject([{ scope, trunk_id: 'carrier', details: { transport: 'tls' } }])
  })

  it('trunks that staff set to be pinged are found across environments', async () => {
    const pinged = async () =>
      (await test.database.telephony.pingedTrunks()).filter(trunk => trunk.scope.tenant_id === scope.tenant_id)
    const set = (details: object) =>
      test.owner.query('update parley.trunks set details = $2 where tenant_id = $1', [scope.tenant_id, details])
    expect(await pinged()).toEqual([])
    await set({ ping: 0 })
    expect(await pinged()).toEqual([])
    await set({ ping: 30, profile: 'twilio' })
    expect(await pinged()).toMatchObject([
      { trunk_id: 'carrier', termination_uri: 'sbc.example.com', details: { ping: 30, transport: 'tls' } },
    ])
  })
})
