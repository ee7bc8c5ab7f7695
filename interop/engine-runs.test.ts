// Calls as runs: the engine on a real database, with a simulated carrier that records every call.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '@parley/contract'
import type { CallRecordEnd } from '@parley/engine'
import { RunEngine } from '@parley/engine'
import { ADMITS_WHEN_LATE } from '@parley/engine/testing'
import { compile, type Draft } from '@parley/flow'
import { systemRandom, systemTime } from '@parley/kernel'
import { type CarrierLedgerEntry, FakeCarrier, LedgerQueries, type NumberRuleInput } from '@parley/loadtest'
import { RecordingSpool, RunLeases, type RunQueue, type Work } from '@parley/runs'
import {
  admitRun,
  cancelRun,
  eventsAfter,
  listEffects,
  listSipMessages,
  openFileBlobs,
  type RunRequest,
  readRecording,
  readRun,
  type Sealer,
} from '@parley/store'
import { counted, localBus, OUTBOUND, type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { AgentServices } from './agent-services.ts'
import { draftOf, endNode, staticNode } from './conversation-flows.ts'
import { interopCertificates } from './recipe.ts'

const TOKEN = 'k7tokenoftrunk'
const OWN = '+12025550142'
const ANSWERS = '+12025550111'
const BUSY = '+12025550112'
const RINGS = '+12025550113'
const REDIRECTS = '+12025550114'
const ELSEWHERE = '+12025550199'
const SHOP = '+12025550123'

const talks = (text: string): Draft =>
  draftOf([
    staticNode('hello', text, {
      edges: [],
      skip_response_edge: {
        id: 'on',
        transition_condition: { type: 'prompt', prompt: 'Skip' },
        destination_node_id: 'bye',
      },
    }),
    endNode('bye', 'Goodbye.'),
  ])
const waits = draftOf([staticNode('hello', 'Hello.')])
const transfersTo = (number: string): Draft =>
  draftOf([
    {
      id: 'shop',
      type: 'transfer_call',
      transfer_destination: { type: 'predefined', number },
      edge: {
        id: 'failed',
        transition_condition: { type: 'prompt', prompt: 'Transfer failed' },
        destination_node_id: 'bye',
      },
    },
    endNode('bye', 'Nobody is there.'),
  ])

const SEALER: Sealer = { seal: plain => plain, open: sealed => sealed }

let test: TestDatabase
let scope: Scope
let services: AgentServices
let carrier: FakeCarrier
let directory: string
let runs: RunEngine | null
let ended: Map<string, CallRecordEnd>
let problems: string[]
let draft: Draft

beforeAll(async () => {
  test = await testDatabase()
  services = new AgentServices()
})
afterAll(async () => {
  await services.close()
  await test.close()
})
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-runs-'))
  ended = new Map()
  problems = []
  runs = null
  draft = talks('Hi.')
  scope = await workspace(test)
  const numbers: NumberRuleInput[] = [
    { number: ANSWERS, behaviour: { do: 'answer' } },
    { number: BUSY, behaviour: { do: 'refuse', status: 486 } },
    { number: RINGS, behaviour: { do: 'ring' } },
    { number: SHOP, behaviour: { do: 'answer' } },
    { number: REDIRECTS, behaviour: { do: 'redirect', contact: `sip:${ELSEWHERE}@127.0.0.1` } },
  ]
  const media = { kind: 'rtp', ports: { from: 41_000, to: 41_199 } } as const
  carrier = await FakeCarrier.open({ media, numbers, transfers: 'take' })
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, inbound_token, details)
     values ($1, 'carrier', 'Carrier', 'generic_sip', '127.0.0.1', true, $2, $3)`,
    [
      scope.tenant_id,
      `${TOKEN}${scope.tenant_id.slice(-12)}`,
      JSON.stringify({ port: carrier.port('udp'), transport: 'udp', media: 'rtp', country: 'US' }),
    ],
  )
  await test.owner.query(
    "insert into parley.numbers (tenant_id, phone_number, trunk_id, agent_id) values ($1, $2, 'carrier', 'greeter')",
    [scope.tenant_id, OWN],
  )
})
afterEach(async () => {
  await runs?.close()
  await carrier.close()
  rmSync(directory, { recursive: true, force: true })
  expect(problems).toEqual([])
})

/** A run queue within this process that notifies its listener at once. */
function localRunQueue(): RunQueue & { listener: ((work: Work) => Promise<void>) | null } {
  return {
    listener: null,
    wake(work) {
      void this.listener?.(work)
    },
    async listen(_, listener) {
      this.listener = listener
      return async () => {
        this.listener = null
      }
    },
  }
}

const runQueue = localRunQueue()

/** Starts the engine. `spoolBytes`: size limit of the recording spool; default as in production. */
async function start(isRecorded = false, spoolBytes?: number): Promise<RunEngine> {
  const compiled = compile({ ...draft, recording: { required: isRecorded, channels: 'dual' } })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
  await test.owner.query('update parley.publications set plan = $2 where tenant_id = $1', [
    scope.tenant_id,
    JSON.stringify(compiled.plan),
  ])
  await test.owner.query('update parley.agents set head_version = 1 where tenant_id = $1', [scope.tenant_id])
  const { database } = test
  const bus = localBus()
  const shared = { database, time: systemTime, wallClock: Date.now }
  const onProblem = (what: string, error: unknown) => void problems.push(`${what}: ${String(error)}`)
  const blobs = await openFileBlobs({ directory: join(directory, 'blobs') })
  const recordings = new RecordingSpool({
    ...shared,
    blobs,
    directory: join(directory, 'spool'),
    joinsAtClose: true,
    ...(spoolBytes !== undefined && { maxBytes: spoolBytes }),
    onProblem,
  })
  const leases = new RunLeases({
    ...shared,
    bus,
    random: systemRandom,
    owner: { engine: `engine-${systemRandom.bytes(8).join('')}`, worker: null },
    onProblem,
  })
  const agent = services.agent('greeter', draft)
  const { ca, engine: certificate } = await interopCertificates()
  runs = await RunEngine.start({
    web: { bindAddress: '127.0.0.1', ports: null, announcedAddress: null, iceServers: () => [], relayOnly: false },
    database,
    bus,
    sealer: SEALER,
    leases,
    runQueue,
    recordings,
    time: systemTime,
    onProblem,
    agents: { create: async () => agent },
    addressesOf: async host => [host],
    addresses: () => ({}),
    calls: {
      endpoint: {
        tls: {
          ca: readFileSync(ca, 'utf8'),
          key: readFileSync(certificate.key, 'utf8'),
          cert: readFileSync(certificate.cert, 'utf8'),
        },
        rtp: { ports: { from: 42_000, to: 42_199 }, threads: 1 },
        userAgentName: 'Parley',
      },
      ...ADMITS_WHEN_LATE,
    },
    onOver: (run, end) => void ended.set(run.runId, end),
  })
  return runs
}

const ledger = () => new LedgerQueries(carrier.carrier.ledger.entries as readonly CarrierLedgerEntry[])

async function dialled(to: string, rest: Partial<RunRequest> = {}): Promise<string> {
  const request = { ...OUTBOUND, from_number: OWN, to_number: to, can_dial: true, ...rest }
  const admission = await test.database.transaction(scope, tx => admitRun(tx, scope, request))
  if (admission.kind === 'refused') throw new Error(admission.reason)
  runQueue.wake({ kind: 'phone', run_id: admission.run_id, scope })
  return admission.run_id
}

async function overOf(runId: string) {
  await vi.waitFor(() => expect(ended.has(runId)).toBe(true))
  return readRun(test.database.within(scope), scope, runId)
}

const inboundUri = () =>
  `sip:${TOKEN}${scope.tenant_id.slice(-12)}@127.0.0.1:${runs!.engine.endpoint.port('udp')};transport=udp`

it('an outbound run is one call at the carrier: the agent speaks, hangs up, and the run has its recording', async () => {
  await start(true)
  const runId = await dialled(ANSWERS)
  expect(await overOf(runId)).toMatchObject({
    state: 'completed',
    phone_state: 'ended',
    outcome: { kind: 'completed', ended_by: 'agent' },
    connected_ms: expect.any(Number),
    quality: { loss: 0 },
  })
  const [call, ...others] = ledger().calls()
  expect(others).toEqual([])
  expect(call?.endedAt).not.toBeNull()
  const effects = await listEffects(test.database.within(scope), scope, runId)
  expect(effects.map(({ effect_kind, state }) => [effect_kind, state])).toEqual([
    ['sip_dial', 'succeeded'],
    ['sip_hangup', 'succeeded'],
  ])
  const ladder = await listSipMessages(test.database.within(scope), scope, runId)
  expect(ladder[0]).toMatchObject({ place: 1, direction: 'out', message: expect.stringMatching(/^INVITE /) })
  // Our BYE and its answer; each may be there again where this process was busy for longer than 500 ms.
  expect(ladder.findLast(({ direction }) => direction === 'out')?.message).toMatch(/^BYE /)
  expect(ladder.at(-1)).toMatchObject({ direction: 'in', message: expect.stringMatching(/^SIP\/2\.0 200 /) })
  expect(await readRecording(test.database.within(scope), scope, runId)).toMatchObject({ state: 'ready' })
  expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0, calls: 1 })
})

it('calls that must be recorded are not connected when the disk has no room, and end as recording_unavailable', async () => {
  await start(true, 0)
  const errorsOf = async (runId: string) => {
    const items = await eventsAfter(test.database.within(scope), scope, runId, 0, 100)
    return items.filter(({ kind }) => kind === 'error').map(({ fields }) => fields.code)
  }
  const runId = await dialled(ANSWERS)
  expect(await overOf(runId)).toMatchObject({
    state: 'failed',
    phone_state: 'setup_failed',
    outcome: { kind: 'error', detail: 'recording_unavailable', ended_by: 'system' },
  })
  expect(ledger().calls()).toEqual([])
  expect(await errorsOf(runId)).toEqual(['recording_unavailable'])
  await (await carrier.carrier.call({ uri: inboundUri(), from: '+12025550177', called: OWN })).ended
  await vi.waitFor(() => expect(ended.size).toBe(2))
  const inbound = [...ended.keys()].find(id => id !== runId)!
  expect(await readRun(test.database.within(scope), scope, inbound)).toMatchObject({
    state: 'rejected',
    disposition: 'recording_unavailable',
  })
  const rows = ledger().calls(({ direction }) => direction === 'from-carrier')[0]?.rows
  expect(rows).toContainEqual(expect.objectContaining({ kind: 'refused', status: 503 }))
  expect(await errorsOf(inbound)).toEqual(['recording_unavailable'])
  expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  // One log line for both calls.
  expect(problems.splice(0)).toEqual([expect.stringMatching('no room to record, 1 not begun')])
})

it.each([
  [BUSY, { state: 'completed', phone_state: 'setup_failed', outcome: { kind: 'busy', sip_status: 486 } }],
  [
    '+12025550100',
    {
      state: 'failed',
      phone_state: 'setup_failed',
      outcome: { kind: 'error', detail: 'number_not_found' },
      disposition: 'number_not_found',
    },
  ],
  [REDIRECTS, { state: 'failed', phone_state: 'setup_failed', outcome: { kind: 'error', detail: 'moved' } }],
])('a call to %s that is not answered ends with its reason', async (to, end) => {
  await start()
  const runId = await dialled(to)
  expect(await overOf(runId)).toMatchObject(end)
  // A redirection off the trunk is not followed.
  expect(ledger().calls()).toHaveLength(1)
  expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
})

it('a run to a destination that its policy forbids fails without dialling', async () => {
  await start()
  const runId = await dialled('+19005550123')
  expect(await overOf(runId)).toMatchObject({
    state: 'failed',
    outcome: { kind: 'error', detail: 'destination_not_allowed' },
  })
  expect(ledger().calls()).toEqual([])
  const [effect] = await listEffects(test.database.within(scope), scope, runId)
  expect(effect).toMatchObject({ effect_kind: 'sip_dial', state: 'failed', error_code: 'policy_denied' })
})

it.each([
  [SHOP, 200, { state: 'completed', outcome: { kind: 'transferred', ended_by: 'agent' } }],
  [BUSY, 486, { state: 'completed', outcome: { kind: 'completed', ended_by: 'agent' } }],
])('a transfer to %s enqueues one run.transfer webhook', async (number, status, end) => {
  draft = transfersTo(number)
  await start()
  const runId = await dialled(ANSWERS, { notifies: true })
  expect(await overOf(runId)).toMatchObject(end)
  const transfers = ledger().transfers()
  expect(transfers.map(({ target, finalStatus }) => [target, finalStatus])).toEqual([[number, status]])
  const { rows } = await test.owner.query('select event from parley.outbox where run_id = $1 order by outbox_id', [
    runId,
  ])
  expect(rows.map(({ event }) => event)).toEqual(['run.started', 'run.transfer', 'run.ended'])
})

it('a run that is cancelled while its phone rings ends the call', async () => {
  await start()
  const runId = await dialled(RINGS)
  await vi.waitFor(() => expect(ledger().calls()[0]?.invitedAt).not.toBeNull())
  await vi.waitFor(async () =>
    expect(await readRun(test.database.within(scope), scope, runId)).toMatchObject({ phone_state: 'ringing' }),
  )
  await test.database.transaction(scope, tx => cancelRun(tx, scope, runId))
  expect(await overOf(runId)).toMatchObject({
    state: 'cancelled',
    outcome: { kind: 'cancelled', ended_by: 'operator' },
  })
  await vi.waitFor(() => expect(ledger().calls()[0]?.endedAt).not.toBeNull())
})

it('a call to the number of an agent is answered, and a call to another number is refused', async () => {
  draft = waits
  await start()
  const call = await carrier.carrier.call({ uri: inboundUri(), from: '+12025550177', called: OWN, hangUpAfterMs: 1500 })
  await call.ended
  await vi.waitFor(() => expect(ended.size).toBe(1))
  const [runId] = ended.keys()
  expect(await readRun(test.database.within(scope), scope, runId!)).toMatchObject({
    state: 'completed',
    mode: 'inbound',
    outcome: { kind: 'caller_hung_up', ended_by: 'caller' },
    from_number: '+12025550177',
    to_number: OWN,
  })
  const ladder = await listSipMessages(test.database.within(scope), scope, runId!)
  expect(ladder[0]).toMatchObject({
    place: 1,
    direction: 'in',
    message: expect.stringMatching(/^INVITE sip:\[redacted\]@/),
  })
  expect(ladder.at(-1)).toMatchObject({ direction: 'out', message: expect.stringMatching(/^SIP\/2\.0 200 /) })
  expect(JSON.stringify(ladder)).not.toContain(TOKEN)
  const stranger = await carrier.carrier.call({ uri: inboundUri(), from: '+12025550177', called: '+12025550143' })
  await stranger.ended
  const refused = ledger()
    .calls(({ direction }) => direction === 'from-carrier')
    .at(-1)
  expect(refused?.answeredAt).toBeNull()
  expect(ended.size).toBe(1)
})

it('a caller beyond the capacity is refused and leaves a rejected run', async () => {
  await test.owner.query('update parley.tenants set concurrent_capacity = 0 where tenant_id = $1', [scope.tenant_id])
  await start()
  const call = await carrier.carrier.call({ uri: inboundUri(), from: '+12025550177', called: OWN })
  await call.ended
  const { rows } = await test.owner.query('select state, disposition from parley.runs where tenant_id = $1', [
    scope.tenant_id,
  ])
  expect(rows).toEqual([{ state: 'rejected', disposition: 'concurrent_capacity' }])
})

it('a draining engine continues live calls, begins no run and refuses new callers', async () => {
  draft = waits
  await start()
  const runId = await dialled(ANSWERS)
  await vi.waitFor(async () =>
    expect(await readRun(test.database.within(scope), scope, runId)).toMatchObject({ phone_state: 'active' }),
  )
  const drained = runs!.drain(20_000)
  const late = await dialled(ANSWERS)
  const caller = await carrier.carrier.call({ uri: inboundUri(), from: '+12025550177', called: OWN })
  await caller.ended
  await vi.waitFor(() => expect([...ended.values()]).toMatchObject([{ state: 'rejected', direction: 'inbound' }]))
  await test.database.transaction(scope, tx => cancelRun(tx, scope, runId))
  await drained
  expect(ended.has(runId)).toBe(true)
  expect(await readRun(test.database.within(scope), scope, late)).toMatchObject({ state: 'admitted' })
})
