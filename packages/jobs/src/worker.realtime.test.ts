import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OutboundHttp } from '@parley/egress'
import { systemRandom, systemTime } from '@parley/kernel'
import { RulesModel } from '@parley/providers'
import { BullConnections, BullEnvironmentQueue } from '@parley/runs'
import { ensureLocalCertificate } from '@parley/sip'
import type { LocalCertificate } from '@parley/sip/testing'
import { MasterKeySealer, putSecret, withNewKey } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FarEndHangUp, openSipFarEnd } from './io/far-end.ts'
import { JobsHarness } from './testing/jobs-harness.ts'
import { killedInCall, openTelephone } from './testing/sip-line.ts'
import { type HookReceiver, startHookReceiver } from './testing/webhook-ledger.ts'
import { startWorker, type Worker, type WorkerOptions } from './worker.ts'

let home: string
let tls: LocalCertificate
let test: TestDatabase
let harness: JobsHarness
let hooks: HookReceiver
let egress: OutboundHttp
let farEnd: FarEndHangUp
let connections: BullConnections
const workers: Worker[] = []
const sealer = new MasterKeySealer(withNewKey(new Map([[1, Buffer.alloc(32, 1)]])))

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-worker-'))
  tls = await ensureLocalCertificate(home)
  test = await testDatabase()
  connections = new BullConnections({
    on: { postgres: test.owner.url },
    wallClock: () => Date.now(),
    onProblem: line => harness.problems.push(line),
  })
  hooks = await startHookReceiver(['sesame'])
  egress = new OutboundHttp({ allow: [{ host: '127.0.0.1', port: Number(new URL(hooks.url).port) }], time: systemTime })
})
afterAll(async () => {
  await egress?.close()
  await hooks?.close()
  await connections?.close()
  await test?.close()
  await rm(home, { recursive: true, force: true })
})
beforeEach(async () => {
  harness = await JobsHarness.open(test)
  farEnd = await openSipFarEnd({ tls, log: harness.log })
  await harness.write(tx =>
    putSecret(tx, harness.scope, sealer, { secret_id: 'hook', kind: 'webhook_signing', value: 'sesame' }),
  )
  const secret = { id: 'hook', version: '1' }
  const events = ['run.started', 'run.ended', 'run.analyzed', 'run.transfer']
  const items = [{ type: 'number', name: 'guests', description: 'How many guests', required: true }]
  await harness.publish('waiter', {
    notification: { url: hooks.url, secret, events },
    analysis: { model: null, items },
  })
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map(worker => worker.close()))
  await farEnd.close()
})

async function worker(options: Partial<WorkerOptions> = {}): Promise<Worker> {
  const { bus, log, wake } = harness
  const model = new RulesModel()
  const started = await startWorker({
    database: test.database,
    bus,
    queue: new BullEnvironmentQueue(connections),
    sealer,
    egress,
    pagingUrl: 'https://paging.invalid/v2/enqueue',
    models: () => model,
    embedders: () => null,
    reader: { read: async () => ({ type: 'unreadable', error: 'nothing is read here' }) },
    hangUp: farEnd,
    wake,
    log,
    expireContents: async () => false,
    joinRecordings: async () => false,
    time: systemTime,
    random: systemRandom,
    wallClock: () => Date.now(),
    ...options,
  })
  workers.push(started)
  return started
}

const ACTIVE = [{ state: 'running', phone_state: 'dialing' }, { phone_state: 'active' }] as const

describe('a worker', () => {
  it('a worker ends the call of a killed engine, sends its webhook and analyses its conversation', async () => {
    // As in production: rounds of 3 s, leases of 9 s.
    const one = await worker()
    const telephone = await openTelephone(tls, true)
    const left = await killedInCall(tls, telephone.uri('tls'), 'answered')
    const run = await harness.run(
      { moves: ACTIVE, dial: left.dial, dialog: left.dialog! },
      { agent_id: 'waiter', notifies: true },
    )
    await harness.say(run, 'I want a table.', 'For how many guests?', 'Four.', 'It is booked.')
    expect(await harness.permits()).toBe(1)
    const killedAt = performance.now()
    await harness.kill(run)
    const row = await vi.waitFor(
      async () => {
        const row = await harness.read(run.run_id)
        expect(row.ended_at).not.toBeNull()
        return row
      },
      { timeout: 25_000, interval: 50 },
    )
    const afterMs = performance.now() - killedAt
    expect(row).toMatchObject({
      state: 'failed',
      phone_state: 'ended',
      outcome: { kind: 'error', detail: 'engine_lost' },
    })
    expect(telephone.ends).toMatchObject([{ cause: 'bye', by: 'remote' }])
    expect(await harness.permits()).toBe(0)
    // Invariant 6: 30 s, of which the lease had taken 9 before. It takes a lease of rest at the start, a round, and the ending.
    expect(afterMs).toBeLessThan(21_000)
    const rows = await vi.waitFor(
      async () => {
        const rows = (await hooks.rows()).filter(({ body }) => body.includes(run.run_id))
        expect(rows).toHaveLength(2)
        return rows
      },
      { timeout: 10_000, interval: 50 },
    )
    expect(rows.map(({ event, signature }) => [event, signature])).toEqual([
      ['run.ended', 'valid'],
      ['run.analyzed', 'valid'],
    ])
    expect(JSON.parse(rows[1]!.body).run.analysis).toMatchObject({ custom: { guests: 4 } })
    // The receiver hears before the worker knows that it did.
    await vi.waitFor(() =>
      expect(one.metrics).toMatchObject({
        runs_reaped: 1,
        hangups_confirmed: 1,
        webhooks_delivered: 2,
        analyses_made: 1,
      }),
    )
    expect(harness.problems).toEqual([])
    await telephone.close()
  })

  it('a worker sends all webhooks of an environment in one round', async () => {
    await test.owner.query(
      `insert into parley.outbox (tenant_id, run_id, event, payload)
       select $1, run_id, 'run.ended',
         jsonb_build_object('run_id', run_id, 'publication', '{"agent_id": "waiter", "version": 1}'::jsonb)
       from (select uuidv7() as run_id from generate_series(1, 20)) runs`,
      [harness.scope.tenant_id],
    )
    const one = await worker({ intervals: { webhooks: 600_000 } })
    new BullEnvironmentQueue(connections).wake('webhooks', harness.scope)
    await vi.waitFor(() => expect(one.metrics.webhooks_delivered).toBe(20))
  })

  it('a worker recovers when the database closes every connection', async () => {
    const joins: number[] = []
    const joinRecordings = async () => {
      joins.push(performance.now())
      await test.database.ping()
      return false
    }
    await worker({ joinRecordings, intervals: { joinRecordings: 50 } })
    await vi.waitFor(() => expect(joins.length).toBeGreaterThan(2))
    await test.owner.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'parley'",
    )
    const before = joins.length
    await vi.waitFor(() => expect(joins.length).toBeGreaterThan(before + 2))
  })

  it('a closing worker releases everything within 10 s and does nothing afterwards', async () => {
    let rounds = 0
    const hanging = await worker({
      expireContents: () => new Promise(() => {}),
      joinRecordings: async () => {
        rounds++
        return false
      },
      intervals: { joinRecordings: 20, expireContents: 20 },
    })
    await vi.waitFor(() => expect(rounds).toBeGreaterThan(2))
    const closedAt = performance.now()
    await hanging.close()
    expect(performance.now() - closedAt).toBeLessThan(15_000)
    const before = rounds
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(rounds).toBe(before)
    // What it had to itself is another's at once.
    let others = 0
    await worker({
      joinRecordings: async () => {
        others++
        return false
      },
      intervals: { joinRecordings: 20 },
    })
    await vi.waitFor(() => expect(others).toBeGreaterThan(0))
  })
})
