import type { Scope } from '@parley/contract'
import { SeededRandom, systemTime } from '@parley/kernel'
import {
  admitRun,
  cancelRun,
  listEffects,
  listEvents,
  readRun,
  readTranscript,
  readUpdate,
  storeUpdate,
} from '@parley/store'
import {
  counted,
  letLeaseEnd,
  localBus,
  OUTBOUND,
  rowOf,
  type TestDatabase,
  testDatabase,
  workspace,
} from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { OwnedRun } from './owned-run.ts'
import type { RunCommand, UpdateOutcome } from './protocol.ts'
import { RunLeases } from './run-leases.ts'

const ENDED = {
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
  disposition: 'completed',
} as const

let test: TestDatabase
let scope: Scope
let bus: ReturnType<typeof localBus>
let desks: RunLeases[]
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  scope = await workspace(test)
  bus = localBus()
  desks = []
})
afterEach(() => {
  for (const leases of desks) leases.close()
})

let processes = 0
function leases(leaseMs?: number): RunLeases {
  const made = new RunLeases({
    database: test.database,
    bus,
    time: systemTime,
    wallClock: Date.now,
    random: new SeededRandom(7),
    owner: { engine: `engine-${++processes}`, worker: null },
    ...(leaseMs !== undefined && { leaseMs }),
  })
  desks.push(made)
  return made
}

async function admitted(): Promise<string> {
  const admission = await test.database.transaction(scope, tx => admitRun(tx, scope, OUTBOUND))
  if (admission.kind === 'refused') throw new Error(admission.reason)
  return admission.run_id
}

async function held(leaseMs?: number): Promise<OwnedRun> {
  const run = await leases(leaseMs).claim(scope, await admitted())
  if (run === null) throw new Error('not claimed')
  return run
}

const timeline = async (runId: string) =>
  (await listEvents(test.database.within(scope), scope, runId, { cursor: null, limit: 1000 })).rows

const eventually = <Result>(check: () => Result | Promise<Result>) => vi.waitFor(check)

it('exactly one of many processes claims a run', async () => {
  const runId = await admitted()
  const claims = await Promise.all([leases(), leases(), leases(), leases()].map(one => one.claim(scope, runId)))
  expect(claims.filter(claim => claim !== null)).toHaveLength(1)
})

it('run leases list the tenants of the owned runs', async () => {
  const ours = leases()
  for (let run = 0; run < 2; run++) await ours.claim(scope, await admitted())
  expect(ours.tenants).toEqual([scope.tenant_id, scope.tenant_id])
})

it('an owned run writes its entries and states in order, and ends with its usage and a released permit', async () => {
  const run = await held()
  run.note({ kind: 'state', state: 'running', phone_state: 'dialing' })
  run.note({ kind: 'state', state: 'running', phone_state: 'active' }, 1200)
  for (let i = 0; i < 250; i++) run.note({ kind: 'digits', direction: 'in', digits: `${i}` }, i)
  run.addUsage({ meter: 'llm_input_tokens', provider: 'parley', model_id: 'rules-1', quantity: 3 })
  run.addUsage({ meter: 'llm_input_tokens', provider: 'parley', model_id: 'rules-1', quantity: 4 })
  run.checkpoint([
    {
      index: 0,
      role: 'agent',
      text: 'Hello.',
      segment_id: 's',
      observed_offset_ms: 10.4,
      interrupted: false,
      start_ms: 1,
      end_ms: 9.6,
      node_id: 'n',
    },
  ])
  run.note({ kind: 'state', state: 'ending', phone_state: 'terminating' }, 2000)
  expect(await run.finish({ ...ENDED, connected_ms: 800 })).toBe('finished')

  const items = await timeline(run.runId)
  expect(items.map(item => item.seq)).toEqual(items.map((_, i) => i + 1))
  expect(items.flatMap(({ kind, fields }) => (kind === 'digits' ? [fields.digits] : []))).toEqual(
    Array.from({ length: 250 }, (_, i) => `${i}`),
  )
  const row = await readRun(test.database.within(scope), scope, run.runId)
  expect(row).toMatchObject({ state: 'completed', phone_state: 'ended', connected_ms: 800 })
  expect((await rowOf(test, run.runId)).llm_input_tokens).toBe('7')
  const transcript = await readTranscript(test.database.within(scope), scope, run.runId)
  expect(transcript).toMatchObject({
    state: 'complete',
    final: true,
    utterances: [{ text: 'Hello.', observed_offset_ms: 10 }],
  })
  expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  expect(bus.published.filter(([topic, id]) => topic === 'runs' && id === run.runId).length).toBeGreaterThan(1)
})

it('an effect is committed before it is sent, and inference is written after the fact', async () => {
  const run = await held()
  const action = { id: 'call.dial', version: 1 }
  const dial = await run.ledger.intend({ kind: 'sip_dial', action, node_id: null, ordinal: null })
  const listed = () => listEffects(test.database.within(scope), scope, run.runId)
  expect(await listed()).toMatchObject([{ effect_kind: 'sip_dial', state: 'intended' }])
  const infer = { id: 'model.infer', version: 1 }
  const inference = await run.ledger.intend({ kind: 'gateway_inference', action: infer, node_id: 'n', ordinal: null })
  await run.ledger.sending(inference.effect_id)
  run.addUsage({ meter: 'llm_input_tokens', provider: 'parley', model_id: 'rules-1', quantity: 3 })
  await run.ledger.settle(inference.effect_id, { state: 'succeeded' })
  await run.ledger.settle(dial.effect_id, { state: 'failed', error_code: 'not_sent' })
  await eventually(async () =>
    expect(await listed()).toMatchObject([
      { effect_kind: 'sip_dial', state: 'failed' },
      { effect_kind: 'gateway_inference', state: 'succeeded', node_id: 'n' },
    ]),
  )
  const { rows } = await test.owner.query(
    'select usage from parley.run_effects where run_id = $1 and usage is not null',
    [run.runId],
  )
  expect(rows).toEqual([
    { usage: [{ meter: 'llm_input_tokens', provider: 'parley', model_id: 'rules-1', quantity: 3 }] },
  ])
})

it('a transfer is denied when the daily call limit is reached', async () => {
  const run = await held()
  await test.owner.query('update parley.tenants set daily_call_limit = 1 where tenant_id = $1', [scope.tenant_id])
  const action = { id: 'call.transfer', version: 1 }
  const { effect_id } = await run.ledger.intend({ kind: 'sip_transfer', action, node_id: 'n', ordinal: 0 })
  const verdict = { decision: 'allow', reason: null, policy_version: '1' } as const
  expect(await run.ledger.decide(effect_id, verdict)).toMatchObject({
    state: 'failed',
    error_code: 'policy_denied',
    decision: { decision: 'deny', reason: 'daily_call_limit' },
  })
})

it('a cancel and an update reach the run’s owner at once over the bus', async () => {
  const run = await held()
  const orders: RunCommand[] = []
  run.onCommand(order => {
    orders.push(order)
    if (order.type === 'update') void order.settle({ status: 'applied' })
  })
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  const receipt = await test.database.transaction(scope, tx =>
    storeUpdate(tx, scope, run.runId, { override_dynamic_variables: { tier: 'gold' } }),
  )
  expect(receipt?.status).toBe('acknowledged')
  bus.publish('run_orders', run.runId)
  await eventually(async () =>
    expect(await readUpdate(test.database.within(scope), scope, run.runId, 1)).toMatchObject({ status: 'applied' }),
  )
  expect((await readRun(test.database.within(scope), scope, run.runId))?.dynamic_variables).toMatchObject({
    tier: 'gold',
  })
  await test.database.transaction(scope, tx => cancelRun(tx, scope, run.runId))
  bus.publish('run_orders', run.runId)
  await eventually(() => expect(orders.filter(({ type }) => type === 'cancel')).toHaveLength(1))
})

it('simultaneous updates are settled in order, and the newest value stays', async () => {
  const run = await held()
  run.onCommand(order => {
    if (order.type === 'update') void order.settle({ status: 'applied' })
  })
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  const updates = Array.from({ length: 8 }, (_, index) => index + 1)
  for (const n of updates)
    await test.database.transaction(scope, tx =>
      storeUpdate(tx, scope, run.runId, { override_dynamic_variables: { tier: String(n) } }),
    )
  bus.publish('run_orders', run.runId)
  const receipts = () =>
    Promise.all(updates.map(revision => readUpdate(test.database.within(scope), scope, run.runId, revision)))
  await eventually(async () => {
    for (const receipt of await receipts()) expect(receipt?.status).toBe('applied')
  })
  const ids = (await receipts()).map(receipt => receipt!.update_id)
  await eventually(async () => {
    const updates = (await timeline(run.runId)).filter(({ kind }) => kind === 'update')
    expect(updates.map(({ fields }) => fields.update_id)).toEqual(ids)
  })
  expect((await readRun(test.database.within(scope), scope, run.runId))?.dynamic_variables).toMatchObject({ tier: '8' })
})

it('an update that its owner has is applying; one whose deadline passed stands in the timeline once, even when it is settled late', async () => {
  const run = await held()
  let settle: ((outcome: UpdateOutcome) => void) | null = null
  run.onCommand(order => {
    if (order.type === 'update') settle = order.settle
  })
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  await test.database.transaction(scope, tx => storeUpdate(tx, scope, run.runId, { metadata: { tier: 'gold' } }))
  bus.publish('run_orders', run.runId)
  await eventually(() => expect(settle).not.toBeNull())
  expect(await readUpdate(test.database.within(scope), scope, run.runId, 1)).toMatchObject({ status: 'applying' })
  await test.owner.query('update parley.run_updates set deadline = now() where run_id = $1', [run.runId])
  await test.database.runs.expireUpdates(100)
  bus.publish('run_orders', run.runId)
  const updates = async () => (await timeline(run.runId)).filter(({ kind }) => kind === 'update')
  const { update_id } = (await readUpdate(test.database.within(scope), scope, run.runId, 1))!
  const late = [{ fields: { update_id, status: 'indeterminate' } }]
  await eventually(async () => expect(await updates()).toMatchObject(late))
  const before = bus.published.length
  settle!({ status: 'applied' })
  await eventually(() => expect(bus.published.slice(before)).toContainEqual(['runs', run.runId]))
  expect(await run.finish(ENDED)).toBe('finished')
  expect(await updates()).toMatchObject(late)
})

it('a cancel reaches the run’s owner within one lease renewal when the bus is silent', async () => {
  const run = await held(600)
  const orders: string[] = []
  run.onCommand(order => orders.push(order.type))
  await test.database.transaction(scope, tx => cancelRun(tx, scope, run.runId))
  await eventually(() => expect(orders).toEqual(['cancel']))
})

it('a run that another process took over is marked as lost and writes nothing more', async () => {
  // No renewal comes between the end of the lease and the reaper.
  const run = await held(600_000)
  const orders: string[] = []
  run.onCommand(order => orders.push(order.type))
  await letLeaseEnd(test, run.owned)
  // Leases of earlier tests' runs end on a busy machine.
  const reaped = await test.database.runs.reap({ engine: 'worker', worker: 'reaper' }, 100)
  expect(reaped.map(({ run_id }) => run_id)).toContain(run.runId)
  const before = await timeline(run.runId)
  run.note({ kind: 'digits', direction: 'in', digits: '1' })
  await eventually(() => expect(orders).toEqual(['lost']))
  expect(await run.finish(ENDED)).toBe('lost')
  expect(await timeline(run.runId)).toEqual(before)
})

it('a run whose lease expired stays with its owner until another process takes it', async () => {
  const run = await held()
  await letLeaseEnd(test, run.owned)
  run.note({ kind: 'digits', direction: 'in', digits: '1' })
  await eventually(async () => expect(await timeline(run.runId)).toHaveLength(2))
  expect(await run.finish({ ...ENDED, state: 'failed' })).not.toBe('lost')
})
