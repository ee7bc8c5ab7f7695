import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHandlers } from '../handlers/keys.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const MANY = { perSecond: 1e6, burst: 1e6 }
const limits = { rates: { key: MANY, costly: MANY, address: MANY } }
let api: PipelineApi

beforeAll(async () => {
  api = await pipelineApi(keyHandlers, { limits })
})
afterAll(() => api?.close())

let unique = 0
const newKeyBody = () => ({ body: { name: 'made', role: 'viewer' }, idempotencyKey: `made-${++unique}` })
const revoke = (keyId: string) =>
  api.request('DELETE', `/api/v1/keys/${keyId}`, { idempotencyKey: `revoke-${++unique}` })

/** Sends the head of a request, lets `between` happen, then sends its body. */
function slowRequest(key: string, path: string, body: unknown, between: () => Promise<unknown>) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>()
  const text = JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'idempotency-key': `slow-${++unique}`,
  }
  const sent = httpRequest(new URL(path, api.url), { method: 'POST', headers }, async response => {
    let received = ''
    for await (const piece of response) received += piece
    resolve({ status: response.statusCode!, body: JSON.parse(received) })
  })
  sent.once('error', reject)
  sent.flushHeaders()
  void sleep(100)
    .then(between)
    .then(() => sent.end(text), reject)
  return promise
}

describe('a key that is revoked or rotated while a request is under way', () => {
  it('a body that arrives after the revocation of its key changes nothing', async () => {
    const { secret, key_id } = await api.newKey('admin')
    const answer = await slowRequest(secret, '/api/v1/keys', { name: 'late', role: 'admin' }, () => revoke(key_id))
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated' } } })
    const { rows } = await api.db.owner.query("select 1 from parley.api_keys where name = 'late'")
    expect(rows).toEqual([])
  })

  it('a body that arrives after its secret was replaced changes nothing', async () => {
    const { secret, key_id } = await api.newKey('admin')
    const rotate = () =>
      api.request('POST', `/api/v1/keys/${key_id}/rotate`, {
        body: { overlap_seconds: 0 },
        idempotencyKey: `rotate-${++unique}`,
      })
    const answer = await slowRequest(secret, '/api/v1/keys', { name: 'late', role: 'admin' }, rotate)
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated' } } })
  })

  it('a replayed answer is refused when the key was revoked since', async () => {
    const { secret, key_id } = await api.newKey('admin')
    const request = { ...newKeyBody(), key: secret }
    expect((await api.request('POST', '/api/v1/keys', request)).status).toBe(201)
    await revoke(key_id)
    expect((await api.request('POST', '/api/v1/keys', request)).status).toBe(401)
  })

  it('no write that races the revocation of its key is decided after it', async () => {
    for (let round = 0; round < 20; round++) {
      const { secret, key_id } = await api.newKey('admin')
      const writes = Array.from({ length: 12 }, () =>
        api.request('POST', '/api/v1/keys', { ...newKeyBody(), key: secret }),
      )
      const revoked = await revoke(key_id)
      expect(revoked.status).toBe(200)
      for (const answer of await Promise.all(writes)) {
        if (answer.status === 401) continue
        expect(answer.status).toBe(201)
        expect(Date.parse(answer.body.created_at)).toBeLessThanOrEqual(Date.parse(revoked.body.revoked_at))
      }
    }
  })

  it('a stream of writes of the same key does not keep its revocation waiting', async () => {
    const { secret, key_id } = await api.newKey('admin')
    let isOver = false
    const writer = async () => {
      while (!isOver) {
        const { status } = await api.request('POST', '/api/v1/keys', { ...newKeyBody(), key: secret })
        if (status === 401) return
      }
    }
    const writers = Array.from({ length: 8 }, writer)
    await sleep(200)
    const answered = await Promise.race([revoke(key_id).then(({ status }) => status), sleep(10_000, 'still waiting')])
    isOver = true
    expect(answered).toBe(200)
    await Promise.all(writers)
  })

  it('two requests that revoke the key of the other are both answered', async () => {
    const [first, second] = [await api.newKey('admin'), await api.newKey('admin')]
    const answers = await Promise.all([
      api.request('DELETE', `/api/v1/keys/${second.key_id}`, { key: first.secret, idempotencyKey: 'cross-1' }),
      api.request('DELETE', `/api/v1/keys/${first.key_id}`, { key: second.secret, idempotencyKey: 'cross-2' }),
    ])
    for (const { status } of answers) expect([200, 401]).toContain(status)
    expect(answers.some(({ status }) => status === 200)).toBe(true)
  })
})
