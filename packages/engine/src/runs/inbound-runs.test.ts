import { createHash } from 'node:crypto'
import type { Scope } from '@parley/contract'
import type { Plan } from '@parley/flow'
import { SeededRandom, systemTime, VirtualTime } from '@parley/kernel'
import { type ObservedMessage, parseNameAddr, parseUri, type SipRequest } from '@parley/leg'
import { RunLeases } from '@parley/runs'
import { HeaderList, parseIpNetwork } from '@parley/sip'
import type { Database, InboundTrunk } from '@parley/store'
import { localBus, rowOf, type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { CallLadders } from '../ladder/call-ladders.ts'
import type { VoiceAgent } from '../voice/voice-agent.ts'
import { InboundRuns } from './inbound-runs.ts'
import type { TrunkDirectory } from './trunk-directory.ts'

/** An address from which a carrier sends the calls of all its customers, without a token. */
const CARRIER = '192.0.2.1'

let test: TestDatabase
let leases: RunLeases
let trunks: InboundTrunk[]
let queries: number
/** How long the engine is busy with something else once it has sent the statements of an admission. */
let stallMs: number
/** When it was no longer busy, ms since 1970. */
let stalledUntil: number
/** Whether requests have the token of the first trunk. */
let hasToken: boolean
/** Settings of the next customer's agent. */
let settings: Partial<Plan['settings']>
let runs: InboundRuns
let ladders: CallLadders
let time: VirtualTime
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  await test.owner.query('update parley.numbers set confirmed_at = null')
  trunks = []
  time = new VirtualTime()
  queries = 0
  stallMs = 0
  leases = new RunLeases({
    database: test.database,
    bus: localBus(),
    time: systemTime,
    wallClock: Date.now,
    random: new SeededRandom(7),
    owner: { engine: `engine-${crypto.randomUUID()}`, worker: null },
  })
  hasToken = false
  settings = {}
  ladders = new CallLadders({ wallClock: () => 0 })
  const directory = {
    byToken: () => (hasToken ? trunks[0]! : null),
    bySource: (address: string) => (address === CARRIER ? trunks : []),
  }
  runs = new InboundRuns({
    database: counting(test.database),
    leases,
    time,
    directory: directory as unknown as TrunkDirectory,
    agents: { create: async () => ({ plan: { settings: {} } }) as unknown as VoiceAgent },
    recordings: { open: () => Promise.reject(new TypeError('this call is not recorded')), close: async () => {} },
    ladders,
    onOver: () => {},
    onProblem: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })
})
afterEach(() => leases.close())

/** Counts queries within one tenant and across tenants. */
function counting(database: Database): Database {
  const counted = {
    within: (scope: Scope) => {
      queries++
      return database.within(scope)
    },
    transaction: (scope: Scope, work: (tx: never) => Promise<unknown>, lastWrites: never) =>
      database.transaction(
        scope,
        tx => {
          const result = work(tx as never)
          if (stallMs > 0)
            setImmediate(() => {
              Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs)
              stalledUntil = Date.now()
            })
          return result
        },
        lastWrites,
      ),
    telephony: {
      reached: (...asked: Parameters<Database['telephony']['reached']>) => {
        queries++
        return database.telephony.reached(...asked)
      },
    },
  }
  return counted as unknown as Database
}

/** Creates a customer of the carrier whose numbers the agent `greeter` answers; the first to have a number has the confirmed claim. `country`: that of its trunk. */
async function createCustomer(numbers: readonly string[], country = 'US'): Promise<Scope> {
  const scope = await workspace(test)
  const { tenant_id } = scope
  await test.owner.query('update parley.publications set plan = $2 where tenant_id = $1', [
    tenant_id,
    JSON.stringify({ settings, recording: { required: false } }),
  ])
  await test.owner.query("update parley.agents set head_version = 1 where tenant_id = $1 and agent_id = 'greeter'", [
    tenant_id,
  ])
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, inbound_token, details)
     values ($1, 'carrier', 'Carrier', 'generic_sip', 'sbc.example.com', true, $2, '{}')`,
    [tenant_id, `token${tenant_id}`],
  )
  for (const number of numbers)
    await test.owner.query(
      `insert into parley.numbers (tenant_id, phone_number, trunk_id, agent_id, confirmed_at)
       select $1, $2, 'carrier', 'greeter', case when not exists (
         select from parley.numbers n where n.phone_number = $2 and n.confirmed_at is not null) then now() end`,
      [tenant_id, number],
    )
  trunks.push({
    scope,
    trunk_id: 'carrier',
    name: 'Carrier',
    token_sha256: '',
    termination_uri: 'sbc.example.com',
    details: { country },
    first_number: numbers[0] ?? null,
  })
  return scope
}

function inviteTo(called: string, headers: readonly (readonly [string, string])[] = []): SipRequest {
  const from = parseNameAddr('<sip:+12025550177@carrier.example>;tag=1')
  const to = parseNameAddr('<sip:anybody@parley.example>')
  return {
    uri: parseUri(`sip:${called}@parley.example`),
    from,
    to,
    callId: crypto.randomUUID(),
    headers: new HeaderList(headers),
  } as unknown as SipRequest
}

/** Calls this number; returns the tenant whose run was admitted, or the status of the refusal. */
async function call(called: string): Promise<string | number> {
  const invite = inviteTo(called)
  const decision = await runs.find(invite, CARRIER)!.receive(invite)
  if (decision.kind === 'refused') return decision.status
  return (await runOf(invite)).tenant_id as string
}

async function runOf({ callId }: SipRequest) {
  const hash = createHash('sha256').update(callId).digest('hex')
  const text = "select run_id from parley.runs where trigger->>'call_id_sha256' = $1"
  const { rows } = await test.owner.query(text, [hash])
  return rowOf(test, rows[0].run_id)
}

it('a call from a shared carrier address reaches the customer who has the called number, in any notation', async () => {
  const first = await createCustomer(['+12025550101'])
  const second = await createCustomer(['+12025550102', '+12025550103'])
  const abroad = await createCustomer(['+4930123456'], 'DE')
  for (let more = 0; more < 10; more++) await createCustomer([])
  expect(await call('+12025550102')).toBe(second.tenant_id)
  // Three queries: the number's trunk, its agent, and the run; none for each customer.
  expect(queries).toBe(3)
  expect(await call('2025550101')).toBe(first.tenant_id)
  expect(await call('030123456')).toBe(abroad.tenant_id)
  expect(await call('+12025550199')).toBe(404)
  expect(await call('nobody')).toBe(404)
})

it('an engine that is busy while it admits a call holds up no other call of the environment', async () => {
  const { tenant_id } = await createCustomer(['+12025550101'])
  await call('+12025550101')
  stallMs = 1500
  const lock = `select from parley.run_counters where tenant_id = '${tenant_id}' for no key update`
  const clock = 'select 1000 * extract(epoch from clock_timestamp())::float8 as ms'
  // Three statements that need nothing from this process, which stands still meanwhile.
  const other = test.owner.query(`select pg_sleep(0.2); ${lock}; ${clock}`) as unknown as Promise<
    { rows: { ms: number }[] }[]
  >
  expect(await call('+12025550101')).toBe(tenant_id)
  const [, locked, after] = await other
  expect(locked!.rows).toHaveLength(1)
  expect(after!.rows[0]!.ms).toBeLessThan(stalledUntil)
})

it('the INVITE is stored without the personal data that the agent redacts, although it arrives before the run exists', async () => {
  settings = { redaction: { kinds: ['names', 'phone_numbers'] } }
  const { tenant_id } = await createCustomer(['+12025550101'])
  const invite = inviteTo('+12025550101')
  const { callId } = invite
  const flow = {
    transport: 'udp',
    local: { address: '192.0.2.9', port: 5060 },
    remote: { address: CARRIER, port: 5060 },
  }
  const text = 'INVITE sip:a@b SIP/2.0\r\nFrom: "Ida Bell" <sip:+12025550177@b>;tag=1\r\n\r\n'
  ladders.observe({ direction: 'in', callId, flow, text: () => text } as unknown as ObservedMessage)
  ladders.expect(callId)
  await runs.find(invite, CARRIER)!.receive(invite)
  const kept = async () => {
    const query = 'select message from parley.run_sip_messages where tenant_id = $1'
    return (await test.owner.query(query, [tenant_id])).rows
  }
  await expect
    .poll(kept)
    .toEqual([{ message: text.replace('Ida Bell', '[name]').replace('+12025550177', '[phone number]') }])
})

it('a customer of a shared carrier address who imports the number of another neither gets its calls nor silences it', async () => {
  const first = await createCustomer(['+12025550101'])
  const other = await createCustomer(['+12025550101'])
  expect(await call('+12025550101')).toBe(first.tenant_id)
  // Also if the other's trunk alone lists the address.
  trunks = trunks.filter(({ scope }) => scope.tenant_id === other.tenant_id)
  expect(await call('+12025550101')).toBe(404)
})

it('a number that nobody confirmed is reached with the token of its trunk only', async () => {
  const { tenant_id } = await createCustomer(['+12025550101'])
  await test.owner.query('update parley.numbers set confirmed_at = null where tenant_id = $1', [tenant_id])
  expect(await call('+12025550101')).toBe(404)
  hasToken = true
  expect(await call('+12025550101')).toBe(tenant_id)
})

it('a call that a full or draining engine refuses leaves a rejected run, unless no customer has its number', async () => {
  const { tenant_id } = await createCustomer(['+12025550101'])
  const refuse = (called: string, why: 'overload' | 'draining') => {
    const invite = inviteTo(called)
    // At most five notes a second are written.
    time.advance(1000)
    for (let again = 0; again < 3; again++) runs.find(invite, CARRIER)!.refused(invite, why)
  }
  const rejected = async () => {
    const text =
      'select state, phone_state, disposition, to_number from parley.runs where tenant_id = $1 order by created_at'
    return (await test.owner.query(text, [tenant_id])).rows
  }
  refuse('+12025550101', 'overload')
  refuse('+12025550199', 'overload')
  await expect.poll(rejected).toHaveLength(1)
  refuse('+12025550101', 'draining')
  await expect.poll(rejected).toHaveLength(2)
  const run = { state: 'rejected', phone_state: 'rejected', to_number: '+12025550101' }
  await expect.poll(rejected).toEqual([
    { ...run, disposition: 'overload' },
    { ...run, disposition: 'draining' },
  ])
  const { rows } = await test.owner.query('select live from parley.run_counters where tenant_id = $1', [tenant_id])
  expect(rows).toEqual([{ live: 0 }])
})

it('a trunk that sends more calls than its rate leaves a rejected run, and another trunk at its address is answered', async () => {
  const flooding = await createCustomer(['+12025550101'])
  const other = await createCustomer(['+12025550102'])
  trunks = trunks.map(trunk => ({ ...trunk, details: { ...trunk.details, inbound_cps: 1 } }))
  expect(await call('+12025550101')).toBe(flooding.tenant_id)
  expect(await call('+12025550101')).toBe(flooding.tenant_id)
  expect(await call('+12025550101')).toBe(503)
  expect(await call('+12025550102')).toBe(other.tenant_id)
  const text = "select disposition from parley.runs where tenant_id = $1 and state = 'rejected'"
  await expect
    .poll(async () => (await test.owner.query(text, [flooding.tenant_id])).rows)
    .toEqual([{ disposition: 'call_rate' }])
})

it('a caller who cancels before ringing leaves a completed run with outcome caller_hung_up', async () => {
  await createCustomer(['+12025550101'])
  const invite = inviteTo('+12025550101')
  const decision = await runs.find(invite, CARRIER)!.receive(invite)
  if (decision.kind === 'refused') throw new TypeError('the call was refused')
  decision.plan.onAbandoned?.('caller_gone')
  await expect
    .poll(() => runOf(invite))
    .toMatchObject({
      state: 'completed',
      phone_state: 'ended',
      disposition: 'caller_hung_up',
      outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
    })
})

it('the allowed headers of an INVITE, and who diverted the call, are variables of the run', async () => {
  await createCustomer(['+4930123456'], 'DE')
  const [trunk] = trunks
  const details = { country: 'DE', headers_in: ['X-Foo', 'X-Long'], prefix_in: '9', number_format_in: 'e164' } as const
  trunks = [{ ...trunk!, details }]
  const invite = inviteTo('94930123456', [
    ['X-Foo', 'bar'],
    ['X-Other', 'not allowed'],
    ['X-Long', 'a'.repeat(2000)],
    ['Diversion', '<sip:+4930222222@carrier.example>;reason=no-answer'],
  ])
  expect((await runs.find(invite, CARRIER)!.receive(invite)).kind).toBe('taken')
  const { run_id, dynamic_variables } = await runOf(invite)
  expect(dynamic_variables).toEqual({
    'x-foo': 'bar',
    diverted_from: '+4930222222',
    diversion_reason: 'no-answer',
    originally_called: '+4930222222',
  })
  const text = "select fields from parley.run_events where run_id = $1 and kind = 'error'"
  const message = expect.stringContaining('The header X-Long of the INVITE is longer than 1,024 bytes')
  await expect
    .poll(async () => (await test.owner.query(text, [run_id])).rows)
    .toEqual([{ fields: { code: 'header_refused', message } }])
})

it("an inbound call has its trunk's networks for media and its time without RTP", async () => {
  await createCustomer(['+12025550101'])
  trunks = trunks.map(trunk => ({ ...trunk, details: { source: [CARRIER], rtp_timeout: 45 } }))
  const invite = inviteTo('+12025550101')
  expect(await runs.find(invite, CARRIER)!.receive(invite)).toMatchObject({
    mediaSources: [parseIpNetwork(CARRIER)],
    silentRemoteAfterMs: 45_000,
  })
})

it('the networks of a call are those of all trunks at its address, unless one of them has none configured', async () => {
  await createCustomer(['+12025550101'])
  await createCustomer(['+12025550102'])
  const withSources = (...sources: (readonly string[])[]) => {
    trunks = trunks.map((trunk, i) => ({ ...trunk, details: { source: sources[i]! } }))
    return runs.find(inviteTo('+12025550101'), CARRIER)!.sources
  }
  const networks = (...texts: string[]) => texts.map(text => parseIpNetwork(text)!)
  expect(withSources([CARRIER], [CARRIER, '198.51.100.0/24'])).toEqual(networks(CARRIER, '198.51.100.0/24'))
  expect(withSources([CARRIER], [])).toBeUndefined()
  trunks = trunks.slice(0, 1)
  expect(withSources([CARRIER])).toEqual(networks(CARRIER))
})
