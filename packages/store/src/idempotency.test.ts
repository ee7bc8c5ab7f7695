import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Claim,
  claim,
  dropIntent,
  type IdempotentRequest,
  keepAnswer,
  keepIntent,
  settleIntent,
} from './idempotency.ts'
import { MasterKeySealer } from './io/sealer.ts'
import { type TestDatabase, testDatabase } from './testing/index.ts'

const sealer = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 1)]]))
let test: TestDatabase
let scope: Scope
let keys = 0
beforeAll(async () => {
  test = await testDatabase({ maxConnections: 20 })
  scope = await test.scope()
})
afterAll(() => test?.close())

/** A request under a key nobody used before. */
function request(changes: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return {
    principal: 'api_key/1',
    operation: 'agents.create',
    key: `k${keys++}`,
    requestHash: Buffer.alloc(32, 7),
    ...changes,
  }
}

const claimNow = (asked: IdempotentRequest, of = scope): Promise<Claim> =>
  test.database.transaction(of, tx => claim(tx, of, sealer, asked))

/** What an operation does: claims, acts (an agent), keeps the answer. */
const act = (asked: IdempotentRequest, agentId: string): Promise<Claim> =>
  test.database.transaction(scope, async tx => {
    const claimed = await claim(tx, scope, sealer, asked)
    if (claimed.state === 'fresh') {
      await tx.insertInto('agents').values({ agent_id: agentId, name: 'A' }).execute()
      await keepAnswer(tx, scope, sealer, asked, { status: 201, body: `{"agent_id":"${agentId}"}` })
    }
    return claimed
  })

const agentExists = async (agentId: string) =>
  (await test.database.within(scope).selectFrom('agents').select('agent_id').where('agent_id', '=', agentId).execute())
    .length === 1

describe('a request with an idempotency key', () => {
  it('a repeated request takes effect once and gets the first answer byte for byte; a different request under its key is a conflict', async () => {
    const asked = request()
    expect(await act(asked, 'once')).toEqual({ state: 'fresh' })
    expect(await act(asked, 'twice')).toEqual({ state: 'replay', status: 201, body: '{"agent_id":"once"}' })
    expect(await act({ ...asked, requestHash: Buffer.alloc(32, 8) }, 'twice')).toEqual({ state: 'conflict' })
    expect(await agentExists('twice')).toBe(false)
  })

  it('an idempotency key is separate for each principal, operation and tenant', async () => {
    const asked = request()
    await act(asked, 'mine')
    const other = await test.scope()
    expect(await claimNow({ ...asked, principal: 'api_key/2' })).toEqual({ state: 'fresh' })
    expect(await claimNow({ ...asked, operation: 'agents.clone' })).toEqual({ state: 'fresh' })
    expect(await claimNow(asked, other)).toEqual({ state: 'fresh' })
  })

  it('a request sent fifty times at once takes effect once, and no copy blocks', async () => {
    const asked = request()
    const claims = await Promise.all(Array.from({ length: 50 }, (_, index) => act(asked, `fifty-${index}`)))
    const states = claims.map(claimed => claimed.state)
    expect(states.filter(state => state === 'fresh')).toHaveLength(1)
    expect(states.filter(state => state !== 'fresh' && state !== 'in_progress' && state !== 'replay')).toEqual([])
    const { rows } = await test.owner.query(
      "select count(*)::int as n from parley.agents where agent_id like 'fifty-%'",
    )
    expect(rows).toEqual([{ n: 1 }])
  })

  it('a repeated request is answered "in progress" at once while the first still runs', async () => {
    const asked = request()
    await test.database.transaction(scope, async tx => {
      expect(await claim(tx, scope, sealer, asked)).toEqual({ state: 'fresh' })
      expect(await claimNow(asked)).toEqual({ state: 'in_progress' })
    })
  })

  it('a request that is rolled back or loses its connection frees its idempotency key', async () => {
    const asked = request()
    const failed = test.database.transaction(scope, async tx => {
      await claim(tx, scope, sealer, asked)
      await keepAnswer(tx, scope, sealer, asked, { status: 200, body: '{}' })
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    const killed = test.database.transaction(scope, async tx => {
      await claim(tx, scope, sealer, asked)
      await tx.insertInto('agents').values({ agent_id: 'killed', name: 'K' }).execute()
      await test.owner.query(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
      )
      await keepAnswer(tx, scope, sealer, asked, { status: 200, body: '{}' })
    })
    await expect(killed).rejects.toMatchObject({ code: 'database_unavailable' })
    expect(await agentExists('killed')).toBe(false)
    expect(await act(asked, 'after')).toEqual({ state: 'fresh' })
  })

  it('the stored answer of a request opens only with the master key', async () => {
    const asked = request()
    await act(asked, 'sealed-away')
    const { rows } = await test.owner.query('select answer from parley.idempotency where key = $1', [asked.key])
    expect(rows[0].answer.includes('sealed-away')).toBe(false)
    await test.owner.query('update parley.idempotency set principal = $2 where key = $1', [asked.key, 'api_key/9'])
    await expect(claimNow({ ...asked, principal: 'api_key/9' })).rejects.toMatchObject({ code: 'seal_broken' })
  })
})

describe('an external operation', () => {
  const intend = (asked: IdempotentRequest, leaseMs: number) =>
    test.database.transaction(scope, async tx => {
      const claimed = await claim(tx, scope, sealer, asked)
      return { claimed, lease: await keepIntent(tx, scope, asked, { dial: '+1' }, leaseMs) }
    })
  const settle = (asked: IdempotentRequest, lease: { leaseUntil: string }, body: string) =>
    test.database.transaction(scope, tx => settleIntent(tx, scope, sealer, asked, lease, { status: 202, body }))
  const lapse = (asked: IdempotentRequest) =>
    test.database.transaction(scope, async tx => {
      await tx
        .updateTable('idempotency')
        .set({ lease_until: '2000-01-01T00:00:00.000Z' })
        .where('key', '=', asked.key)
        .execute()
      return { leaseUntil: '2000-01-01T00:00:00.000Z' }
    })

  it('an external operation is in progress while its lease lasts, and later repeats its stored answer', async () => {
    const asked = request()
    const { lease } = await intend(asked, 60_000)
    expect(await claimNow(asked)).toEqual({ state: 'in_progress' })
    expect(await claimNow({ ...asked, requestHash: Buffer.alloc(32) })).toEqual({ state: 'conflict' })
    expect(await settle(asked, lease, '{"run":1}')).toBe(true)
    expect(await claimNow(asked)).toEqual({ state: 'replay', status: 202, body: '{"run":1}' })
  })

  it('the intent of an external operation passes to the next request when its owner died, and the late owner cannot settle it', async () => {
    const asked = request()
    await intend(asked, 60_000)
    const late = await lapse(asked)
    const { claimed, lease } = await intend(asked, 60_000)
    expect(claimed).toEqual({ state: 'lapsed', intent: { dial: '+1' } })
    expect(await settle(asked, late, '{"late":true}')).toBe(false)
    expect(await settle(asked, lease, '{"found":true}')).toBe(true)
    expect(await claimNow(asked)).toEqual({ state: 'replay', status: 202, body: '{"found":true}' })
  })

  it('an external operation without effect frees its key, unless another owner has taken it', async () => {
    const asked = request()
    const { lease } = await intend(asked, 60_000)
    const drop = (of: { leaseUntil: string }) =>
      test.database.transaction(scope, tx => dropIntent(tx, scope, asked, of))
    expect(await drop({ leaseUntil: '2000-01-01T00:00:00.000Z' })).toBe(false)
    expect(await drop(lease)).toBe(true)
    expect(await claimNow(asked)).toEqual({ state: 'fresh' })
  })
})
