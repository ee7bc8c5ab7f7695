import type { Scope } from '@parley/contract'
import { SeededRandom, VirtualTime } from '@parley/kernel'
import type { PingOutcome, Target } from '@parley/sip'
import { type OutboundTrunk, type TrunkDetails, trunkHealth } from '@parley/store'
import { type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TrunkPings } from './trunk-pings.ts'

const SCOPE: Scope = { owner_id: 'o', environment: 'production', tenant_id: 't' }
const OK: PingOutcome = { type: 'answered', status: 200, reason: 'OK', afterMs: 12 }
const SILENT: PingOutcome = { type: 'failed', code: 'timeout', detail: 'no response within 8 s' }

const trunk = (trunk_id: string, details: TrunkDetails = {}): OutboundTrunk => ({
  scope: SCOPE,
  trunk_id,
  termination_uri: `${trunk_id}.example`,
  details,
})

let time: VirtualTime
let asked: OutboundTrunk[]
/** Addresses that each host resolves to; default one of its own. */
let addresses: Map<string, readonly string[]>
let outcomes: Map<string, PingOutcome>
let sent: { readonly at: number; readonly target: Target }[]
let problems: string[]

beforeEach(() => {
  time = new VirtualTime()
  asked = []
  addresses = new Map()
  outcomes = new Map()
  sent = []
  problems = []
})

function started(database?: Pick<TestDatabase['database'], 'telephony' | 'transaction'>): TrunkPings {
  const pings = new TrunkPings({
    database: database ?? {
      telephony: { pingedTrunks: async () => asked } as unknown as TestDatabase['database']['telephony'],
      transaction: async () => undefined as never,
    },
    engineId: 'e-1',
    time,
    random: new SeededRandom(3),
    wallClock: Date.now,
    onProblem: (what, error) => problems.push(`${what}: ${String(error)}`),
  })
  pings.begin({
    locate: async ({ host, transport = 'tls', port = 5061 }) =>
      (addresses.get(host) ?? [host]).map(address => ({ address, port, transport, serverName: host })),
    ping: async target => {
      sent.push({ at: time.now(), target })
      return outcomes.get(target.address) ?? OK
    },
  })
  return pings
}

async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    time.advance(1000)
    for (let j = 0; j < 12; j++) await Promise.resolve()
  }
}

const sentTo = (address: string) => sent.filter(({ target }) => target.address === address).map(({ at }) => at)
const gaps = (times: readonly number[]) => times.slice(1).map((at, i) => at - times[i]!)

describe('pings of trunks', () => {
  it('a trunk that is dialled gets OPTIONS every 30 to 37 s for ten minutes, each of its servers', async () => {
    addresses.set('carrier.example', ['192.0.2.1', '192.0.2.2'])
    started().used(trunk('carrier'))
    await pass(900)
    const times = sentTo('192.0.2.1')
    expect(sentTo('192.0.2.2')).toEqual(times)
    expect(times[0]).toBeGreaterThanOrEqual(30_000)
    expect(Math.min(...gaps(times))).toBeGreaterThanOrEqual(30_000)
    expect(Math.max(...gaps(times))).toBeLessThanOrEqual(37_000)
    expect(new Set(gaps(times)).size).toBeGreaterThan(3)
    expect(times.at(-1)).toBeLessThan(600_000)
    expect(times.length).toBeGreaterThan(15)
  })

  it('a trunk that nobody dials gets OPTIONS only if staff set it', async () => {
    asked = [trunk('asked', { ping: 60 })]
    started()
    await pass(600)
    expect(sent.length).toBeGreaterThan(7)
    expect(Math.min(...gaps(sentTo('asked.example')))).toBeGreaterThanOrEqual(60_000)
    asked = []
    await pass(40)
    const { length } = sent
    await pass(300)
    expect(sent).toHaveLength(length)
  })

  it('a trunk for which staff switched pings off gets none while it is dialled', async () => {
    started().used(trunk('carrier', { ping: 0 }))
    await pass(300)
    expect(sent).toEqual([])
  })

  it('a server gets at most one OPTIONS in 15 s, however many trunks lead to it and however short their interval', async () => {
    asked = Array.from({ length: 30 }, (_, i) => trunk(`t${i}`, { ping: 15 }))
    for (const { termination_uri } of asked) addresses.set(termination_uri, ['192.0.2.1'])
    const pings = started()
    await pass(300)
    expect(Math.min(...gaps(sentTo('192.0.2.1')))).toBeGreaterThanOrEqual(15_000)
    expect(pings.figures.trunks.reachable).toBe(30)
  })

  it('no more than 20 trunks are pinged in a second, and no more than 500 at all', async () => {
    asked = Array.from({ length: 700 }, (_, i) => trunk(`t${i}`, { ping: 15 }))
    const pings = started()
    await pass(120)
    const perSecond = Map.groupBy(sent, ({ at }) => at)
    expect(Math.max(...[...perSecond.values()].map(those => those.length))).toBe(20)
    expect(pings.figures.trunks.reachable).toBe(500)
  })

  it('a trunk is reachable, partly reachable or unreachable by the answers of its servers', async () => {
    addresses.set('half.example', ['192.0.2.1', '192.0.2.2'])
    addresses.set('nowhere.example', [])
    outcomes.set('192.0.2.2', SILENT)
    outcomes.set('dead.example', SILENT)
    asked = ['good', 'half', 'dead', 'nowhere'].map(name => trunk(name, { ping: 15 }))
    const pings = started()
    await pass(60)
    expect(pings.figures.trunks).toEqual({ reachable: 1, partly_reachable: 1, unreachable: 2 })
    const answers = sent.filter(({ target }) => !['192.0.2.2', 'dead.example'].includes(target.address)).length
    expect(pings.figures).toMatchObject({ answered: answers, unanswered: sent.length - answers })
  })

  it('an engine that drains sends nothing more, and does not wait for answers', async () => {
    asked = [trunk('asked', { ping: 15 })]
    const pings = started()
    await pass(60)
    const { length } = sent
    pings.stop()
    await pass(60)
    expect(sent).toHaveLength(length)
    expect(time.nextDeadline()).toBeUndefined()
  })

  it('while the database cannot be read the trunks in use are pinged on', async () => {
    const pings = started({
      telephony: { pingedTrunks: () => Promise.reject(new Error('down')) } as never,
      transaction: () => Promise.reject(new Error('down')),
    })
    pings.used(trunk('carrier'))
    await pass(120)
    expect(sent.length).toBeGreaterThan(2)
    expect(problems.length).toBeLessThanOrEqual(4)
  })
})

describe('the stored state of a trunk', () => {
  let test: TestDatabase
  beforeAll(async () => {
    test = await testDatabase()
  })
  afterAll(() => test.close())

  it('what the servers of a trunk answered is part of its health', async () => {
    const scope = await workspace(test)
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, details)
       values ($1, 'carrier', 'Carrier', 'generic_sip', 'sbc.example.com', false, '{"ping": 15}')`,
      [scope.tenant_id],
    )
    addresses.set('sbc.example.com', ['192.0.2.1', '192.0.2.2'])
    outcomes.set('192.0.2.2', SILENT)
    const pings = started(test.database)
    await vi.waitFor(async () => {
      await pass(1)
      const { ping } = await trunkHealth(test.database.within(scope), scope, 'carrier')
      expect(ping).toMatchObject({
        state: 'partly_reachable',
        targets: [
          { transport: 'tls', address: '192.0.2.1', sip_status: 200, error: null, round_trip_ms: 12 },
          { address: '192.0.2.2', sip_status: null, error: 'timeout: no response within 8 s' },
        ],
      })
    })
    pings.stop()
    expect(problems).toEqual([])
  })
})
