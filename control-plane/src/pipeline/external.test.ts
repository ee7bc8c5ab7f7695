import { type AnswerOf, type Operation, operations, Refusal } from '@parley/contract'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalContext } from '../context.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'
import { routeOf } from './route.ts'

const MADE = {
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
const done: AnswerOf<Operation> = { status: 201, body: MADE }

/** No operation of the contract asks anything outside yet: this one stands for those that will. */
const asksOutside: Operation = {
  ...operations.find(({ id }) => id === 'keys.create')!,
  id: 'outside.ask',
  path: '/api/v1/outside',
  kind: 'external',
}

let db: TestDatabase
let api: PipelineApi
let outside: (context: ExternalContext) => Promise<AnswerOf<Operation>>
let asked = 0

beforeAll(async () => {
  // One connection: whoever held it while the outside is asked would stop everybody else.
  db = await testDatabase({ maxConnections: 1, waitMs: 2000 })
  const route = routeOf(asksOutside, async (_, context) => {
    asked += 1
    return outside(context)
  })
  api = await pipelineApi({}, { db, more: [route] })
}, 60_000)
afterAll(async () => {
  await api?.close()
  await db?.close()
})

const ask = (idempotencyKey: string) =>
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
    const first = await ask('settles')
    expect(first.status).toBe(201)
    const { rows } = await db.owner.query('select agent_id from parley.agents')
    expect(rows).toEqual([{ agent_id: 'settled' }])
    const before = asked
    const again = await ask('settles')
    expect([again.status, again.text, asked]).toEqual([200, first.text, before])
    expect((await api.audited('outside.ask')).map(({ outcome }) => outcome)).toEqual(['allowed'])
  })

  it('a repetition is answered in_progress while the first request runs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    outside = async () => {
      begun.resolve()
      await promise
      return done
    }
    const running = ask('slow')
    await begun.promise
    const second = await ask('slow')
    expect([second.status, second.body.error.details]).toEqual([409, { reason: 'in_progress' }])
    resolve()
    expect((await running).status).toBe(201)
    expect((await ask('slow')).status).toBe(200)
  })

  it('a repetition is answered outcome_unknown when the first process has died', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    outside = async () => {
      begun.resolve()
      await promise
      return done
    }
    const running = ask('gone')
    await begun.promise
    await db.owner.query("update parley.idempotency set lease_until = now() - interval '1 s' where key = 'gone'")
    const retried = await ask('gone')
    expect([retried.status, retried.body.error.code]).toEqual([504, 'outcome_unknown'])
    resolve()
    // Its lease is not what it was: what it says now is not kept.
    expect((await running).status).toBe(504)
  })

  it('a refusal frees the idempotency key', async () => {
    outside = async () => {
      throw new Refusal('conflict', 'no', { reason: 'limit_reached' })
    }
    expect((await ask('refuses')).status).toBe(409)
    outside = async () => done
    expect((await ask('refuses')).status).toBe(201)
  })

  it('an error after the external request is answered outcome_unknown', async () => {
    outside = async () => {
      throw new Error('the line went dead')
    }
    const answer = await ask('breaks')
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
    expect((await ask('unsettled')).status).toBe(504)
  })
})
