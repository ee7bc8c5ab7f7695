import { type AnswerOf, type Operation, operations, Refusal } from '@parley/contract'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalContext } from '../context.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'
import { routeOf } from './route.ts'

const CREATED_KEY = {
  key_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
  name: 'a',
  role: 'viewer',
  can_dial: false,
  prefix: 'parley_live_',
  created_at: '2026-01-01T00:00:00.000Z',
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  secret: 'parley_live_0123456789abcdef',
}
const done: AnswerOf<Operation> = { status: 201, body: CREATED_KEY }

/** An operation of kind `external` whose handler each test replaces. */
const externalOperation: Operation = {
  ...operations.find(({ id }) => id === 'keys.create')!,
  id: 'outside.ask',
  path: '/api/v1/outside',
  kind: 'external',
}

let db: TestDatabase
let api: PipelineApi
let outside: (context: ExternalContext) => Promise<AnswerOf<Operation>>
let calls = 0

beforeAll(async () => {
  // There is one connection, so a request that held it during the external request would block all others.
  db = await testDatabase({ maxConnections: 1, waitMs: 2000 })
  const route = routeOf(externalOperation, async (_, context) => {
    calls += 1
    return outside(context)
  })
  api = await pipelineApi({}, { db, more: [route] })
})
afterAll(async () => {
  await api?.close()
  await db?.close()
})

const send = (idempotencyKey: string) =>
  api.request('POST', '/api/v1/outside', { idempotencyKey, body: { name: 'a', role: 'viewer' } })

describe('an external operation', () => {
  it('no database connection is held during the external request, and the result is stored with the answer', async () => {
    outside = async ({ db: reads, scope, storeWithAnswer: settle }) => {
      expect(await reads.selectFrom('agents').select('agent_id').execute()).toEqual([])
      settle(async tx => {
        await tx.insertInto('agents').values({ tenant_id: scope.tenant_id, agent_id: 'settled', name: 'x' }).execute()
      })
      return done
    }
    const first = await send('settles')
    expect(first.status).toBe(201)
    const { rows } = await db.owner.query('select agent_id from parley.agents')
    expect(rows).toEqual([{ agent_id: 'settled' }])
    const before = calls
    const again = await send('settles')
    expect([again.status, again.text, calls]).toEqual([200, first.text, before])
    expect((await api.audited('outside.ask')).map(({ outcome }) => outcome)).toEqual(['allowed'])
  })

  it('a repetition is answered in_progress while the first request runs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    outside = async () => {
      started.resolve()
      await promise
      return done
    }
    const running = send('slow')
    await started.promise
    const second = await send('slow')
    expect([second.status, second.body.error.details]).toEqual([409, { reason: 'in_progress' }])
    resolve()
    expect((await running).status).toBe(201)
    expect((await send('slow')).status).toBe(200)
  })

  it('a repetition is answered outcome_unknown when the first process has died', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    outside = async () => {
      started.resolve()
      await promise
      return done
    }
    const running = send('gone')
    await started.promise
    await db.owner.query("update parley.idempotency set lease_until = now() - interval '1 s' where key = 'gone'")
    const retried = await send('gone')
    expect([retried.status, retried.body.error.code]).toEqual([504, 'outcome_unknown'])
    resolve()
    // The first request has lost its lease, so its answer is not stored.
    expect((await running).status).toBe(504)
  })

  it('a refusal frees the idempotency key', async () => {
    outside = async () => {
      throw new Refusal('conflict', 'no', { reason: 'limit_reached' })
    }
    expect((await send('refuses')).status).toBe(409)
    outside = async () => done
    expect((await send('refuses')).status).toBe(201)
  })

  it('an error after the external request is answered outcome_unknown', async () => {
    outside = async () => {
      throw new Error('the line went dead')
    }
    const answer = await send('breaks')
    expect(answer.body.error).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown', retryable: true })
    expect(answer.text).not.toContain('dead')
    expect(api.logged()).toContain('the line went dead')
  })

  it('a failure to store the result is answered outcome_unknown', async () => {
    outside = async ({ storeWithAnswer: settle }) => {
      settle(async () => {
        throw new Refusal('not_found', 'too late')
      })
      return done
    }
    expect((await send('unsettled')).status).toBe(504)
  })
})
