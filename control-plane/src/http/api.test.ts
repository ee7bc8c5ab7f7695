import { errorEnvelope } from '@parley/contract/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHandlers } from '../handlers/keys.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const MANY = { perSecond: 10_000, burst: 10_000 }
let api: PipelineApi

beforeAll(async () => {
  api = await pipelineApi(
    {
      ...keyHandlers,
      'environments.list': async () => ({ status: 200, body: { items: [], selected: 'production' } }),
      'tenant_settings.update': async () => ({ status: 200, body: { nonsense: 'parley_live_secretsecret' } }),
      'tenant_settings.get': async () => {
        throw new Error('inner words about parley_live_0123456789')
      },
    },
    { limits: { rates: { key: MANY, costly: MANY, address: MANY } } },
  )
})
afterAll(() => api?.close())

describe('every HTTP answer', () => {
  it.each([
    ['GET', '/api/v1/environments', 200],
    ['GET', '/api/v1/nowhere', 404],
    ['GET', '/healthz', 200],
    ['GET', '/openapi.json', 200],
  ])('the answer to %s %s has a request id', async (method, path, status) => {
    const made = await api.request(method, path)
    expect(made.status).toBe(status)
    expect(made.headers['x-request-id']).toMatch(/^[\x21-\x7e]{1,256}$/)
    const given = await api.request(method, path, { headers: { 'x-request-id': 'order/66-a' } })
    expect(given.headers['x-request-id']).toBe('order/66-a')
    const bad = await api.request(method, path, { headers: { 'x-request-id': 'two words' } })
    expect(bad.headers['x-request-id']).not.toContain('two')
  })

  it('answers forbid caching and carry rate limit headers', async () => {
    const { headers } = await api.request('GET', '/api/v1/environments')
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'ratelimit-policy': '"default";q=10000;w=1',
      ratelimit: expect.stringMatching(/^"default";r=\d+;t=1$/),
    })
    expect(Object.keys(headers).filter(name => name.startsWith('access-control'))).toEqual([])
  })
})

describe('malformed requests', () => {
  const refused = async (options: Parameters<PipelineApi['request']>[2], path = '/api/v1/keys', method = 'POST') => {
    const answer = await api.request(method, path, { idempotencyKey: 'k', ...options })
    expect(errorEnvelope.safeParse(answer.body).success).toBe(true)
    return [answer.status, answer.body.error.code, answer.body.error.details?.reason ?? answer.body.error.details]
  }

  it('a body that is not JSON, not UTF-8, compressed or of another type is refused', async () => {
    const issue = (message: string) => [400, 'invalid_request', { issues: [{ path: '', message }] }]
    expect(await refused({ body: '{"name": parley_live_x' })).toEqual(issue('body: not JSON'))
    expect(await refused({ body: new Uint8Array([0x22, 0xe9, 0x22]) })).toEqual(issue('body: not UTF-8'))
    expect(await refused({ body: {}, headers: { 'content-encoding': 'gzip' } })).toEqual(
      issue('body: Content-Encoding is not supported'),
    )
    expect(await refused({ body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } })).toEqual(
      issue('body: the body must be application/json in UTF-8, without another encoding'),
    )
  })

  it('a body over the size limit is refused', async () => {
    const body = { name: 'x'.repeat(1_048_576), role: 'viewer' }
    expect(await refused({ body })).toEqual([400, 'invalid_request', 'body_too_large'])
  })

  it('a body that is nested too deeply or has forbidden names is refused', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect((await refused({ body: deep }))[0]).toBe(400)
    const polluting = await api.request('POST', '/api/v1/keys', {
      idempotencyKey: 'k',
      body: '{"name":"a","role":"viewer","__proto__":{"can_dial":true}}',
    })
    expect(polluting.body.error.details.issues[0].message).toContain('__proto__')
  })

  it('duplicate and unknown query parameters are refused', async () => {
    expect((await refused({}, '/api/v1/keys?limit=5&limit=5', 'GET'))[0]).toBe(400)
    expect((await refused({}, '/api/v1/keys?nobody=1', 'GET'))[0]).toBe(400)
    expect((await refused({}, '/api/v1/environments?limit=1', 'GET'))[0]).toBe(400)
    expect((await api.request('GET', '/api/v1/keys?limit=5')).status).toBe(200)
  })

  it('a path that cannot be decoded is refused', async () => {
    const unreadable = await api.request('DELETE', '/api/v1/keys/%ff', { headers: { 'x-request-id': 'unreadable' } })
    expect([unreadable.status, unreadable.headers['x-request-id']]).toEqual([400, 'unreadable'])
    expect(
      api
        .logged()
        .split('\n')
        .filter(line => line.includes('"unreadable"')),
    ).toHaveLength(1)
    expect((await refused({}, `/api/v1/keys/${'a'.repeat(3000)}`, 'DELETE'))[0]).toBe(400)
    expect((await refused({}, '/api/v1/keys/no-uuid', 'DELETE'))[0]).toBe(400)
  })

  it('an unknown path or method is answered 404', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/api/v1/keys/'],
      ['PUT', '/api/v1/keys'],
      ['OPTIONS', '/api/v1/keys'],
      ['POST', '/api/v1/nowhere'],
    ] as const) {
      const answer = await api.request(method, path, { ...(method === 'POST' && { body: 'no json' }) })
      expect([method, path, answer.status, answer.body.error.code]).toEqual([method, path, 404, 'not_found'])
      expect(answer.headers.ratelimit).toBeDefined()
    }
    for (const key of [null, 'parley_live_nobody-has-this'])
      expect((await api.request('GET', '/api/v1/nowhere', { key })).status).toBe(404)
  })
})

describe('authentication and roles', () => {
  it.each([
    ['no key', null],
    ['an unknown key', `parley_live_${'x'.repeat(40)}`],
    ['a key of wrong form', 'nonsense'],
  ])('a request with %s is answered 401 with the Bearer challenge', async (_, key) => {
    const answer = await api.request('GET', '/api/v1/environments', { key })
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.body.error).toMatchObject({ code: 'unauthenticated', retryable: false, outcome: 'none' })
  })

  it('a key with too low a role is answered 403 and the refusal is audited', async () => {
    const answer = await api.request('GET', '/api/v1/keys', {
      key: api.keys.member,
      headers: { 'x-request-id': 'denied-1' },
    })
    expect([answer.status, answer.body.error.code, answer.body.error.details]).toEqual([
      403,
      'forbidden',
      { reason: 'role' },
    ])
    expect(await api.audited('keys.list')).toEqual([{ outcome: 'denied', resource_kind: null, request_id: 'denied-1' }])
  })

  it('authentication fails before the body is read', async () => {
    const answer = await api.request('POST', '/api/v1/keys', { key: null, body: 'no json' })
    expect(answer.status).toBe(401)
  })
})

describe('HEAD requests', () => {
  it('HEAD answers like GET without a body', async () => {
    const answer = await api.request('HEAD', '/api/v1/environments')
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(10)
  })
})

describe('internal errors', () => {
  it('an internal error is answered without details and logged with the request id and no secrets', async () => {
    const answer = await api.request('GET', '/api/v1/tenant/settings', { headers: { 'x-request-id': 'fault-1' } })
    expect(answer.status).toBe(500)
    expect(answer.body.error).toMatchObject({ code: 'internal', retryable: true, outcome: 'none' })
    expect(answer.text).not.toContain('inner words')
    expect(api.logged()).toMatch(/"request_id":"fault-1".*inner words about parley_live_\*\*\*/)
  })

  it('an answer that does not match its schema is replaced by an internal error without its content', async () => {
    const answer = await api.request('PUT', '/api/v1/tenant/settings', { body: {} })
    expect([answer.status, answer.body.error.code]).toEqual([500, 'internal'])
    expect(answer.text).not.toContain('nonsense')
    expect(api.logged()).toMatch(/fails its own schema/)
    expect(api.logged()).not.toContain('secretsecret')
  })
})

describe('the request log', () => {
  it('each request is logged in one line without secrets, body, path or query', async () => {
    const before = api.logged().length
    const { body } = await api.request('POST', '/api/v1/keys', {
      idempotencyKey: 'idempotency-key-of-the-log',
      body: { name: 'a name in a body', role: 'viewer' },
      headers: { 'x-request-id': 'line-1' },
    })
    await api.request('GET', '/api/v1/keys?cursor=words-in-a-query')
    await api.request('GET', '/words-in-a-path')
    const logged = api.logged().slice(before)
    const lines = logged
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const mine = lines.filter(line => line.request_id === 'line-1')
    expect(mine).toEqual([
      expect.objectContaining({
        operation: 'keys.create',
        status: 201,
        code: 'ok',
        via: 'http',
        tenant_id: api.scope.tenant_id,
        ms: expect.any(Number),
        key_id: expect.any(String),
      }),
    ])
    expect(body.secret).toMatch(/^parley_/)
    const secrets = [...Object.values(api.keys), body.secret]
    for (const word of [...secrets, 'Bearer', 'a name in', 'words-in', 'idempotency-key-of'])
      expect(api.logged()).not.toContain(word)
  })
})

describe('metrics of the API', () => {
  it('requests are counted by operation, status and code, without tenant labels', async () => {
    await api.request('GET', '/api/v1/environments')
    const { text } = await api.request('GET', '/metrics')
    expect(text).toMatch(/parley_api_requests_total\{operation="environments.list",status="200",code="ok"\} \d+/)
    expect(text).toContain('parley_api_request_seconds_bucket')
    expect(text).toContain('parley_event_loop_utilization')
    expect(text).not.toContain(api.scope.tenant_id)
  })
})
