import type { Scope } from '@parley/contract'
import { SeededRandom, systemTime, VirtualTime } from '@parley/kernel'
import type { InviteAttempt } from '@parley/leg'
import { RunLeases } from '@parley/runs'
import { type DialogSnapshot, parseIpNetwork } from '@parley/sip'
import {
  admitRun,
  cancelRun,
  listEffects,
  type OutboundTrunk,
  type RunRequest,
  readRun,
  readUpdate,
  storeUpdate,
} from '@parley/store'
import { counted, localBus, OUTBOUND, type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Call, CallReport } from '../call.ts'
import { CallCapacity } from '../call-capacity.ts'
import type { DialRequest } from '../engine.ts'
import type { VoiceAgent } from '../voice/voice-agent.ts'
import type { CallRecordEnd } from './call-record.ts'
import { OutboundRuns } from './outbound-runs.ts'
import type { Recordings } from './recordings.ts'

const report = (what: string, error: unknown) => void problems.push(`${what}: ${String(error)}`)

const AGENT = { plan: { settings: { ringDurationMs: 30_000 } } } as VoiceAgent

let test: TestDatabase
let scope: Scope
let bus: ReturnType<typeof localBus>
let leases: RunLeases
let time: VirtualTime
let dialled: DialRequest[]
let ended: CallRecordEnd[]
let problems: string[]
let used: OutboundTrunk[]
let runs: OutboundRuns
let capacity: CallCapacity
let openRecording: Recordings['open']

beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  scope = await workspace(test)
  await test.owner.query('update parley.tenants set destinations = $2 where tenant_id = $1', [
    scope.tenant_id,
    JSON.stringify({ countries: ['DE'], allow_prefixes: [] }),
  ])
  await recordCalls(false)
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, details)
     values ($1, 'carrier', 'Carrier', 'generic_sip', 'sbc.example.com', false, '{"cps": 0.5}')`,
    [scope.tenant_id],
  )
  bus = localBus()
  time = new VirtualTime()
  dialled = []
  ended = []
  problems = []
  used = []
  leases = new RunLeases({
    database: test.database,
    bus,
    time: systemTime,
    wallClock: Date.now,
    random: new SeededRandom(7),
    onProblem: report,
    owner: { engine: `engine-${scope.tenant_id}`, worker: null },
  })
  capacity = new CallCapacity(10)
  openRecording = () => Promise.reject(new TypeError('this call is not recorded'))
  runs = outboundRuns(capacity)
})
afterEach(() => {
  leases.close()
  expect(problems).toEqual([])
})

async function recordCalls(required: boolean): Promise<void> {
  await test.owner.query('update parley.publications set plan = $2 where tenant_id = $1', [
    scope.tenant_id,
    JSON.stringify({ recording: { required } }),
  ])
}

/** The outbound runs of an engine with this capacity, on a trunk that takes one call every two seconds. */
function outboundRuns(capacity: CallCapacity): OutboundRuns {
  return new OutboundRuns({
    database: test.database,
    leases,
    time,
    onProblem: report,
    sealer: { seal: plain => plain, open: sealed => sealed },
    agents: { create: async () => AGENT },
    recordings: { open: run => openRecording(run), close: async () => {} },
    dial: async request => {
      await request.beforeAttempt?.({ callId: 'abc' } as InviteAttempt)
      dialled.push(request)
      return {} as Call
    },
    capacity,
    onDial: trunk => used.push(trunk),
    onOver: (_run, end) => void ended.push(end),
  })
}

/** Begins a run that waits for a slot of its trunk; the next free slot is its own. Returns its id. */
async function beginWaitingRun(rest: Partial<RunRequest> = {}): Promise<string> {
  const request = { ...OUTBOUND, to_number: '+4930222222', ...rest }
  const admission = await test.database.transaction(scope, tx => admitRun(tx, scope, request))
  if (admission.kind === 'refused') throw new Error(admission.reason)
  await setNextSlot("now() + interval '1 day'")
  // `begin` resolves with the claim, before the call's slot.
  await runs.begin({ kind: 'phone', run_id: admission.run_id, scope })
  expect(capacity.taken).toBe(1)
  await vi.waitFor(() => expect(time.nextDeadline()).toBeDefined())
  await setNextSlot("'-infinity'")
  return admission.run_id
}

/** `nextAt`: an SQL expression for when the trunk takes its next call. */
async function setNextSlot(nextAt: string): Promise<void> {
  await test.owner.query(
    `insert into parley.trunk_slots (tenant_id, trunk_id, next_at) values ($1, 'carrier', ${nextAt})
     on conflict (tenant_id, trunk_id) do update set next_at = excluded.next_at`,
    [scope.tenant_id],
  )
}

/** Lets time pass until the waiting run asks for a slot again. */
function passToNextSlotRequest(): void {
  time.advanceTo(time.nextDeadline()!)
}

it('a call that waited for its trunk begins with the variables of updates that came meanwhile', async () => {
  const runId = await beginWaitingRun()
  const updated = (name: string) => {
    bus.publish('run_orders', runId)
    return vi.waitFor(async () => {
      const run = await readRun(test.database.within(scope), scope, runId)
      expect(run?.dynamic_variables).toMatchObject({ name })
    })
  }
  for (const override_dynamic_variables of [{ name: 'Bea', city: 'Bonn' }, { name: 'Cleo' }]) {
    await test.database.transaction(scope, tx => storeUpdate(tx, scope, runId, { override_dynamic_variables }))
    await updated(override_dynamic_variables.name)
  }
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  const known: Record<string, string> = {}
  const call = { updateVariables: (values: object) => Object.assign(known, values) }
  dialled[0]!.plan.onCall!(call as unknown as Call)
  expect(known).toEqual({ name: 'Cleo', city: 'Bonn' })
})

it('an update that would give a run too many variables reaches neither the run nor its call', async () => {
  const runId = await beginWaitingRun()
  const updated = async (override_dynamic_variables: Readonly<Record<string, string>>) => {
    const made = await test.database.transaction(scope, tx =>
      storeUpdate(tx, scope, runId, { override_dynamic_variables }),
    )
    bus.publish('run_orders', runId)
    return vi.waitFor(async () => {
      const receipt = await readUpdate(test.database.within(scope), scope, runId, made!.revision)
      expect(receipt?.completed_at).not.toBeNull()
      return receipt!.status
    })
  }
  expect(await updated({ name: 'Bea' })).toBe('applied')
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`v${index}`, 'x']))
  expect(await updated(many)).toBe('rejected')
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  const known: Record<string, string> = {}
  const call = { updateVariables: (values: object) => Object.assign(known, values) }
  dialled[0]!.plan.onCall!(call as unknown as Call)
  expect(known).toEqual({ name: 'Bea' })
  expect(await updated({ ...many, name: 'Cleo' })).toBe('rejected')
  expect(await updated({ name: 'Dora' })).toBe('applied')
  await vi.waitFor(() => expect(known).toEqual({ name: 'Dora' }))
})

it('what a BYE needs is in the database before the answer is acknowledged', async () => {
  const runId = await beginWaitingRun()
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  const dialog = { callId: 'call-1', localTag: 'ours', remoteTag: 'theirs' } as DialogSnapshot
  await dialled[0]!.beforeAcknowledging!(dialog)
  const { rows } = await test.owner.query('select dialog from parley.runs where run_id = $1', [runId])
  expect(rows).toEqual([{ dialog }])
})

it('a waiting call whose API key is revoked is not dialled', async () => {
  const { rows } = await test.owner.query(
    `insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash)
     values ($1, 'K', 'admin', 'parley', sha256($2)) returning key_id`,
    [scope.tenant_id, Buffer.from(scope.tenant_id)],
  )
  const [{ key_id }] = rows
  const runId = await beginWaitingRun({ key_id })
  await test.owner.query('update parley.api_keys set revoked_at = now() where key_id = $1', [key_id])
  passToNextSlotRequest()
  await vi.waitFor(() => expect(ended).toHaveLength(1))
  expect(dialled).toEqual([])
  expect(await listEffects(test.database.within(scope), scope, runId)).toMatchObject([
    { effect_kind: 'sip_dial', state: 'failed', decision: { decision: 'deny', reason: 'key_revoked' } },
  ])
  expect(await readRun(test.database.within(scope), scope, runId)).toMatchObject({
    state: 'failed',
    outcome: { kind: 'error', detail: 'key_revoked' },
    disposition: 'key_revoked',
  })
  expect(await counted(test, scope)).toEqual({ live: 0, permits: 0, calls: 0 })
})

it('a waiting call that is cancelled is not dialled', async () => {
  const runId = await beginWaitingRun()
  await test.database.transaction(scope, tx => cancelRun(tx, scope, runId))
  bus.publish('run_orders', runId)
  passToNextSlotRequest()
  await vi.waitFor(() => expect(ended).toHaveLength(1))
  expect(dialled).toEqual([])
  expect(await readRun(test.database.within(scope), scope, runId)).toMatchObject({
    state: 'cancelled',
    phone_state: 'ended',
    outcome: { kind: 'cancelled', ended_by: 'operator' },
  })
})

it('a waiting call is cancelled although its engine learns of the cancellation only from the ledger', async () => {
  const runId = await beginWaitingRun()
  await test.database.transaction(scope, tx => cancelRun(tx, scope, runId))
  passToNextSlotRequest()
  await vi.waitFor(() => expect(ended).toHaveLength(1))
  expect(dialled).toEqual([])
  expect(ended).toMatchObject([{ state: 'cancelled', outcome: 'cancelled' }])
  expect(await readRun(test.database.within(scope), scope, runId)).toMatchObject({
    state: 'cancelled',
    outcome: { kind: 'cancelled', ended_by: 'operator' },
  })
})

it('the effect of dialling succeeds when the far end answers', async () => {
  const runId = await beginWaitingRun()
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  const dials = () => listEffects(test.database.within(scope), scope, runId)
  expect(await dials()).toMatchObject([{ effect_kind: 'sip_dial', state: 'sending' }])
  const call = { leg: { callId: 'abc' } } as Call
  dialled[0]!.plan.onEvent!({ type: 'leg', event: { type: 'answered' } }, call)
  await vi.waitFor(async () =>
    expect(await dials()).toMatchObject([{ state: 'succeeded', receipts: [{ sip_call_id: 'abc' }] }]),
  )
})

it('a run whose turn on the trunk comes while its engine drains is given back, and another engine dials it', async () => {
  const runId = await beginWaitingRun()
  capacity.drain()
  passToNextSlotRequest()
  const run = () => readRun(test.database.within(scope), scope, runId)
  await vi.waitFor(() => expect(capacity.taken).toBe(0))
  expect(dialled).toEqual([])
  expect(leases.size).toBe(0)
  expect(await run()).toMatchObject({ state: 'admitted', outcome: null })
  expect(await listEffects(test.database.within(scope), scope, runId)).toMatchObject([
    { effect_kind: 'sip_dial', state: 'failed', error_code: 'not_sent' },
  ])
  expect(await counted(test, scope)).toEqual({ live: 1, permits: 1, calls: 1 })
  await setNextSlot("'-infinity'")
  await outboundRuns(new CallCapacity(10)).begin({ kind: 'phone', run_id: runId, scope })
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  await vi.waitFor(async () => expect(await run()).toMatchObject({ state: 'running', phone_state: 'dialing' }))
})

it('a run whose turn on the trunk came before its engine began to drain is dialled by that engine', async () => {
  await recordCalls(true)
  const opening = Promise.withResolvers<{ path: string }>()
  let isOpening = false
  openRecording = () => {
    isOpening = true
    return opening.promise
  }
  const runId = await beginWaitingRun()
  passToNextSlotRequest()
  await vi.waitFor(() => expect(isOpening).toBe(true))
  capacity.drain()
  opening.resolve({ path: '/recording' })
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  expect(capacity.taken).toBe(1)
  const run = () => readRun(test.database.within(scope), scope, runId)
  await vi.waitFor(async () => expect(await run()).toMatchObject({ state: 'running', phone_state: 'dialing' }))
})

async function setDetails(details: object): Promise<void> {
  await test.owner.query("update parley.trunks set details = $2 where tenant_id = $1 and trunk_id = 'carrier'", [
    scope.tenant_id,
    JSON.stringify({ cps: 0.5, ...details }),
  ])
}

it('an outbound call has the identity, headers and number format of its trunk', async () => {
  await setDetails({
    number_format_out: 'digits',
    prefix_out: '00',
    privacy: ['id'],
    asserted_identity: 'caller',
    headers_out: ['X-Account', 'X-None'],
    session_expires: 600,
    keep_alive: 10,
  })
  await beginWaitingRun({ from_number: '+4930111111', dynamic_variables: { 'x-account': 'seven', other: 'x' } })
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  const { uri, from, headers, sessionTimer, keepAliveMs } = dialled[0]!
  expect(uri).toMatchObject({ user: '004930222222', host: 'sbc.example.com' })
  expect(from).toMatchObject({ displayName: 'Anonymous', uri: { host: 'anonymous.invalid' } })
  expect(headers).toEqual([
    ['P-Asserted-Identity', '<sip:4930111111@sbc.example.com;user=phone>'],
    ['Privacy', 'id'],
    ['X-Account', 'seven'],
  ])
  expect(sessionTimer).toEqual({ expiresS: 600 })
  expect(keepAliveMs).toBe(10_000)
})

it('an outbound call has the settings of the profile of its trunk', async () => {
  await setDetails({ profile: 'vonage' })
  await beginWaitingRun({ from_number: '+4930111111' })
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  expect(dialled[0]!.uri.user).toBe('4930222222')
  expect(dialled[0]).toMatchObject({
    security: 'srtp-required',
    codecs: ['PCMU', 'PCMA'],
    digitsByInfo: false,
    keepAliveMs: 25_000,
  })
})

it('a trunk that is dialled is reported once for each call, without its credentials', async () => {
  await beginWaitingRun({ from_number: '+4930111111' })
  expect(used).toEqual([])
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  expect(used).toEqual([
    { scope, trunk_id: 'carrier', termination_uri: 'sbc.example.com', details: expect.objectContaining({ cps: 0.5 }) },
  ])
})

/** Errors in the timeline of a run. */
async function errorsOf(runId: string): Promise<unknown[]> {
  const { rows } = await test.owner.query(
    "select fields from parley.run_events where run_id = $1 and kind = 'error' order by seq",
    [runId],
  )
  return rows.map(({ fields }) => fields)
}

it("an outbound call has the trunk's networks, for credentials and for media, and its time without RTP", async () => {
  await setDetails({ source: ['198.51.100.0/24'], rtp_timeout: 45 })
  await beginWaitingRun()
  passToNextSlotRequest()
  await vi.waitFor(() => expect(dialled).toHaveLength(1))
  const networks = [parseIpNetwork('198.51.100.0/24')]
  expect(dialled[0]).toMatchObject({ sources: networks, mediaSources: networks, silentRemoteAfterMs: 45_000 })
})

const MEDIA_LOST: CallReport = {
  run: { state: 'failed', outcome: { kind: 'error', detail: 'media_lost', sip_status: 200, ended_by: 'system' } },
  direction: 'outbound',
  transport: null,
  utterances: [],
  timeline: [],
  digits: '',
  latencies: [],
  preemptive: null,
  end: {
    direction: 'outbound',
    answered: true,
    by: 'local',
    cause: 'media-lost',
    sipStatus: 200,
    reason: 'OK',
    inviteSent: true,
    confirmed: false,
    detail: 'no RTP was received for 20 s',
    retryAfterS: undefined,
    media: null,
  },
}

it.each([
  [
    'is refused',
    { byeStatus: 403 },
    [{ code: 'hangup_unconfirmed', message: expect.stringContaining('its BYE was answered 403') }],
  ],
  [
    'gets no response',
    {},
    [{ code: 'hangup_unconfirmed', message: expect.stringContaining('nothing answered its BYE') }],
  ],
  ['is confirmed', { byeStatus: 200, confirmed: true }, []],
  ['was never due, because nobody answered the call', { answered: false, sipStatus: 408 }, []],
])(
  'when a call is over its permit is free, and its timeline says when the far end did not confirm the end: the BYE %s',
  async (_what, end, errors) => {
    const runId = await beginWaitingRun()
    passToNextSlotRequest()
    await vi.waitFor(() => expect(dialled).toHaveLength(1))
    const { plan } = dialled[0]!
    const call = { leg: { callId: 'abc', state: 'ended' }, utterances: [] } as unknown as Call
    plan.onCall!(call)
    plan.onEvent!({ type: 'ending' }, call)
    expect(await counted(test, scope)).toMatchObject({ permits: 1 })
    plan.onEvent!({ type: 'ended', report: { ...MEDIA_LOST, end: { ...MEDIA_LOST.end, ...end } } }, call)
    await vi.waitFor(() => expect(ended).toHaveLength(1))
    expect(await errorsOf(runId)).toEqual(errors)
    expect(await counted(test, scope)).toMatchObject({ permits: 0 })
  },
)

it('a run whose variable cannot be sent as a header is not dialled, and its timeline says why', async () => {
  await setDetails({ headers_out: ['X-Account'] })
  const runId = await beginWaitingRun({ dynamic_variables: { 'x-account': 'seven\r\nVia: x' } })
  passToNextSlotRequest()
  await vi.waitFor(() => expect(ended).toHaveLength(1))
  expect(dialled).toEqual([])
  expect(await readRun(test.database.within(scope), scope, runId)).toMatchObject({
    state: 'failed',
    outcome: { kind: 'error', detail: 'sip_error' },
  })
  expect(await errorsOf(runId)).toEqual([{ code: 'header_refused', message: expect.stringContaining('X-Account') }])
})
