import { Refusal } from '@parley/contract'
import { type Database, openDatabase } from '@parley/store'
import { localBus, type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalContext } from '../context.ts'
import { keyHandlers } from '../handlers/keys.ts'
import { type CuttingProxy, cuttingProxy } from '../testing/cutting-proxy.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const MANY = { perSecond: 10_000, burst: 10_000 }
const limits = { rates: { key: MANY, costly: MANY, address: MANY } }
const bus = localBus()
let db: TestDatabase
let api: PipelineApi
let fault: (() => Error) | null = null

/** Writes an agent, then goes wrong in the way the test chose. */
async function createAgent(
  _: unknown,
  { db: tx, scope, auditResource: about, notifyAfterCommit: announce }: ExternalContext,
): Promise<never> {
  about({ kind: 'agent', id: 'half-done' })
  announce('publications', 'half-done')
  await tx.insertInto('agents').values({ tenant_id: scope.tenant_id, agent_id: 'half-done', name: 'x' }).execute()
  throw fault!()
}

beforeAll(async () => {
  db = await testDatabase()
  api = await pipelineApi({ ...keyHandlers, 'agents.create': createAgent }, { db, limits, bus })
})
afterAll(async () => {
  await api?.close()
  await db?.close()
})

const newKey = (name: string) => ({ body: { name, role: 'viewer' } })

async function keysNamed(name: string): Promise<number> {
  const { rows } = await db.owner.query('select count(*)::int as n from parley.api_keys where name = $1', [name])
  return rows[0].n
}

async function records(key: string): Promise<number> {
  const { rows } = await db.owner.query('select count(*)::int as n from parley.idempotency where key = $1', [key])
  return rows[0].n
}

describe('a request with an idempotency key', () => {
  it('50 concurrent requests with one idempotency key take effect once', async () => {
    const request = { ...newKey('once'), idempotencyKey: 'once-1' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.request('POST', '/api/v1/keys', request)))
    const done = answers.filter(({ status }) => status < 300)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(done.map(({ text }) => text)).size).toBe(1)
    for (const { status, body } of answers.filter(({ status }) => status >= 300)) {
      expect(status).toBe(409)
      expect(body.error).toMatchObject({ code: 'conflict', retryable: true, details: { reason: 'in_progress' } })
    }
    expect(await keysNamed('once')).toBe(1)
    expect((await api.audited('keys.create')).map(({ outcome }) => outcome)).toEqual(['allowed'])
    const again = await api.request('POST', '/api/v1/keys', request)
    expect([again.status, again.text]).toEqual([200, done[0]!.text])
  })

  it('an idempotency key used for another request is refused', async () => {
    await api.request('POST', '/api/v1/keys', { ...newKey('one'), idempotencyKey: 'used' })
    const other = await api.request('POST', '/api/v1/keys', { ...newKey('other'), idempotencyKey: 'used' })
    expect([other.status, other.body.error.code, other.body.error.retryable]).toEqual([
      409,
      'idempotency_conflict',
      false,
    ])
    expect(await keysNamed('other')).toBe(0)
  })

  it('the order of members in the body does not make another request', async () => {
    const first = await api.request('POST', '/api/v1/keys', {
      idempotencyKey: 'ordered',
      body: '{"name":"a","role":"viewer"}',
    })
    const again = await api.request('POST', '/api/v1/keys', {
      idempotencyKey: 'ordered',
      body: ' {"role": "viewer", "name": "\\u0061"}',
    })
    expect([again.status, again.text]).toEqual([200, first.text])
  })

  it('the same idempotency key of another client is another request', async () => {
    const { secret } = await api.newKey('admin')
    await api.request('POST', '/api/v1/keys', { ...newKey('mine'), idempotencyKey: 'shared' })
    const other = await api.request('POST', '/api/v1/keys', {
      ...newKey('mine'),
      idempotencyKey: 'shared',
      key: secret,
    })
    expect(other.status).toBe(201)
  })
})

describe('a handler that throws', () => {
  const create = (idempotencyKey: string) =>
    api.request('POST', '/api/v1/agents', { idempotencyKey, body: { template: 'blank', name: 'x' } })
  const traces = async (key: string) => {
    const { rows } = await db.owner.query("select 1 from parley.agents where agent_id = 'half-done'")
    return { agents: rows.length, records: await records(key), notifications: bus.published.length }
  }

  it('a handler that throws stores nothing but an audit item', async () => {
    fault = () => new TypeError('a bug')
    const notifications = bus.published.length
    expect((await create('throws-1')).status).toBe(500)
    expect(await traces('throws-1')).toEqual({ agents: 0, records: 0, notifications })
    expect(await api.audited('agents.create')).toMatchObject([{ outcome: 'failed', resource_kind: 'agent' }])
  })

  it('a refusal frees the idempotency key', async () => {
    fault = () => new Refusal('conflict', 'it is there', { reason: 'agent_exists' })
    const answer = await create('throws-2')
    expect([answer.status, answer.body.error.details]).toEqual([409, { reason: 'agent_exists' }])
    expect((await traces('throws-2')).records).toBe(0)
    expect((await create('throws-2')).status).toBe(409)
    expect((await api.audited('agents.create')).at(-1)?.outcome).toBe('failed')
  })

  it('a 403 is audited as denied', async () => {
    fault = () => new Refusal('policy_denied', 'no', { reason: 'spend_cap' })
    expect((await create('throws-3')).status).toBe(403)
    expect((await api.audited('agents.create')).at(-1)?.outcome).toBe('denied')
  })

  it('a refusal that its operation does not declare is logged', () =>
    expect(api.logged()).toMatch(/"refused":"policy_denied\/spend_cap".*a refusal that is not declared/))
})

describe('a transaction that is retried', () => {
  it('notifications are sent once, for the committed attempt', async () => {
    const twice = delegated(db.database, {
      transaction: async (scope, work) => {
        const rolledBack = new Error('rolled back')
        await db.database
          .transaction(scope, async tx => {
            await work(tx)
            throw rolledBack
          })
          .catch(error => {
            if (error !== rolledBack) throw error
          })
        return db.database.transaction(scope, work)
      },
    })
    const otherBus = localBus()
    const other = await pipelineApi(keyHandlers, { db, database: twice, bus: otherBus, limits })
    const { key_id } = await other.newKey('viewer')
    expect((await other.request('DELETE', `/api/v1/keys/${key_id}`)).status).toBe(200)
    expect(otherBus.published).toEqual([['keys', key_id]])
    await other.close()
  })
})

describe('a lost database connection', () => {
  let proxy: CuttingProxy
  let database: Database
  let cut: PipelineApi

  beforeAll(async () => {
    const url = new URL(db.owner.url)
    proxy = await cuttingProxy(Number(url.port))
    url.port = String(proxy.port)
    database = await openDatabase({ ownerUrl: url.href, waitMs: 1000 })
    cut = await pipelineApi(keyHandlers, { db, database, limits })
  })
  afterAll(async () => {
    await cut?.close()
    await database?.close()
    await proxy?.close()
  })

  it.each([
    ['after', 200],
    ['before', 201],
  ] as const)(
    'a connection lost %s the server committed leaves the outcome unknown, and the retry finds it',
    async (when, status) => {
      const name = `cut-${when}`
      const request = { ...newKey(name), idempotencyKey: name }
      proxy.arm(when)
      const lost = await cut.request('POST', '/api/v1/keys', request)
      expect(proxy.cuts()).toBeGreaterThan(0)
      expect([lost.status, lost.body.error]).toMatchObject([
        504,
        { code: 'outcome_unknown', outcome: 'unknown', retryable: true },
      ])
      const retried = await cut.request('POST', '/api/v1/keys', request)
      expect(retried.status).toBe(status)
      expect(retried.body.name).toBe(name)
      expect(await keysNamed(name)).toBe(1)
    },
  )

  it('a connection lost before any change is answered as retryable', async () => {
    await cut.request('GET', '/api/v1/keys')
    proxy.shut()
    const away = await cut.request('POST', '/api/v1/keys', { ...newKey('away'), idempotencyKey: 'away' })
    expect([away.status, away.body.error.code]).toEqual([500, 'internal'])
    expect(away.body.error).toMatchObject({ retryable: true, outcome: 'none' })
    expect(away.headers['retry-after']).toBe('1')
    proxy.open()
    const back = await cut.request('POST', '/api/v1/keys', { ...newKey('away'), idempotencyKey: 'away' })
    expect(back.status).toBe(201)
  })

  it('readiness reports that the database is unavailable', async () => {
    expect((await cut.request('GET', '/healthz')).status).toBe(200)
    proxy.shut()
    await expect
      .poll(async () => (await cut.request('GET', '/readyz')).body)
      .toEqual({ ready: false, reasons: ['database_unavailable'] })
    expect((await cut.request('GET', '/healthz')).status).toBe(200)
    proxy.open()
    await expect.poll(async () => (await cut.request('GET', '/readyz')).status).toBe(200)
  })
})

/** The database with some of its methods replaced. */
function delegated(database: Database, replaced: Partial<Database>): Database {
  return {
    web: database.web,
    signing: database.signing,
    within: scope => database.within(scope),
    transaction: (scope, work) => database.transaction(scope, work),
    keyOf: hash => database.keyOf(hash),
    touchKeys: ids => database.touchKeys(ids),
    forgetIdempotency: (keepMs, atMost) => database.forgetIdempotency(keepMs, atMost),
    people: database.people,
    leases: database.leases,
    runs: database.runs,
    jobs: database.jobs,
    contents: database.contents,
    telephony: database.telephony,
    ping: () => database.ping(),
    close: () => database.close(),
    ...replaced,
  }
}
