import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

/** A rate so low that no token is refilled during a test. */
const rate = (burst: number) => ({ perSecond: 0.001, burst })
let api: PipelineApi

beforeAll(async () => {
  api = await pipelineApi(
    {
      'environments.list': async () => ({ status: 200, body: { items: [], selected: 'production' } }),
      'agents.import_inspect': async () => {
        throw new Error('reached')
      },
    },
    { limits: { rates: { key: rate(5), costly: rate(2), address: rate(4) } } },
  )
})
afterAll(() => api?.close())

const list = (key: string | null) => api.request('GET', '/api/v1/environments', { key })

describe('rate limits over HTTP', () => {
  it('requests of a key over its rate are refused with the time to wait', async () => {
    const statuses = []
    for (let count = 0; count < 6; count++) statuses.push((await list(api.keys.viewer)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    const answer = await list(api.keys.viewer)
    expect(answer.body.error).toMatchObject({
      code: 'rate_limited',
      retryable: true,
      details: { reason: 'request_rate' },
    })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(900)
    expect(answer.headers).toMatchObject({
      'ratelimit-policy': '"default";q=5;w=5000',
      // 5,000 s less the time that the requests took.
      ratelimit: expect.stringMatching(/^"default";r=0;t=(49\d\d|5000)$/),
    })
    expect((await list(api.keys.member)).status).toBe(200)
  })

  it('costly requests have a lower limit', async () => {
    const { secret } = await api.newKey('member')
    const inspect = () => api.request('POST', '/api/v1/agents/import/inspect', { key: secret, body: {} })
    expect([(await inspect()).status, (await inspect()).status, (await inspect()).status]).toEqual([400, 400, 429])
    expect((await inspect()).headers['ratelimit-policy']).toBe('"default";q=5;w=5000, "costly";q=2;w=2000')
    expect((await list(secret)).status).toBe(200)
  })

  it('requests without a valid key are limited by address, and recently verified keys at that address are not', async () => {
    const { secret } = await api.newKey('viewer')
    const statuses = [(await list(secret)).status]
    for (const key of [null, `parley_live_${'x'.repeat(40)}`, null, null, null, `parley_live_${'y'.repeat(40)}`])
      statuses.push((await list(key)).status)
    expect(statuses).toEqual([200, 401, 401, 401, 401, 429, 429])
    expect((await list(secret)).status).toBe(200)
    expect((await api.request('GET', '/openapi.json', { key: null })).status).toBe(429)
    expect((await api.request('GET', '/nowhere', { key: null })).status).toBe(429)
    expect((await api.request('GET', '/healthz', { key: null })).status).toBe(200)
    expect((await api.request('GET', '/metrics', { key: null })).text).toMatch(
      /rate_limited_total\{operation="openapi"\} 1/,
    )
  })

  it('a rate that staff set for an environment replaces the default', async () => {
    const scope = await api.db.scope()
    await api.db.owner.query('update parley.tenants set rate_per_second = 1, rate_burst = 7 where tenant_id = $1', [
      scope.tenant_id,
    ])
    const { secret } = await api.newKey('viewer', scope)
    // The address limit is exhausted by now, so the new key is not looked up.
    expect((await list(secret)).status).toBe(429)
    const fresh = await pipelineApi(
      { 'environments.list': async () => ({ status: 200, body: { items: [], selected: 'production' } }) },
      { db: api.db },
    )
    const answer = await fresh.request('GET', '/api/v1/environments', { key: secret })
    expect(answer.headers['ratelimit-policy']).toBe('"default";q=7;w=7')
    await fresh.close()
  })
})
