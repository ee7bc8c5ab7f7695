import { randomBytes } from 'node:crypto'
import { MasterKeySealer } from '@parley/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KeyToCheck, KeyVerdict } from '../context.ts'
import { handlers } from '../handlers.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const KEY = 'sk-the-key-of-the-clinic-9876'

let api: PipelineApi
let verdict: KeyVerdict
let checked: KeyToCheck[]

beforeAll(async () => {
  const generous = { perSecond: 1_000_000, burst: 1_000_000 }
  api = await pipelineApi(handlers, {
    limits: { rates: { key: generous, costly: generous, address: generous } },
    platform: {
      sealer: new MasterKeySealer(new Map([[1, randomBytes(32)]])),
      checkProviderKey: async key => {
        checked.push(key)
        return verdict
      },
    },
  })
})
afterAll(() => api?.close())
beforeEach(async () => {
  checked = []
  verdict = { outcome: 'accepted', models: [] }
  await api.db.owner.query('delete from parley.provider_keys')
  await api.db.owner.query('delete from parley.tombstones')
})

const path = (provider = '') => `/api/v1/provider-keys${provider === '' ? '' : `/${provider}`}`
const put = (provider: string, body: object, key = api.keys.admin) => api.request('PUT', path(provider), { key, body })
const remove = (provider: string) => api.request('DELETE', path(provider))
const list = async () => (await api.request('GET', path(), { key: api.keys.viewer })).body.items

describe('PUT /provider-keys/{provider}', () => {
  it('a key that the provider accepts is stored sealed and shown by its last four characters', async () => {
    const { status, body } = await put('openai', { key: KEY })
    expect(status).toBe(200)
    expect(body).toMatchObject({ provider: 'openai', last4: '9876', endpoint: null })
    expect(checked).toEqual([{ provider: 'openai', key: KEY, endpoint: null }])
    expect(await list()).toEqual([body])
    for (const table of ['provider_keys', 'audit', 'idempotency']) {
      const { rows } = await api.db.owner.query(`select t::text, to_jsonb(t)::text as json from parley.${table} t`)
      expect(JSON.stringify(rows)).not.toContain(KEY)
    }
    expect(api.logged()).not.toContain(KEY)
    expect(await api.audited('provider_keys.put')).toContainEqual(expect.objectContaining({ outcome: 'allowed' }))
  })

  it('another key replaces it, and the list is in the order of the providers', async () => {
    const first = (await put('openai', { key: KEY })).body
    await put('anthropic', { key: 'short' })
    const second = (await put('openai', { key: 'another-key-of-openai-1111' })).body
    expect(second).toMatchObject({ last4: '1111', created_at: first.created_at })
    expect((await list()).map((item: { provider: string; last4: string }) => [item.provider, item.last4])).toEqual([
      ['anthropic', ''],
      ['openai', '1111'],
    ])
  })

  it.each([
    ['refused by the provider', { outcome: 'rejected', status: 401 }, 400, 'provider_key_rejected', false],
    ['out of reach', { outcome: 'unreachable', reason: 'no connection' }, 503, undefined, true],
    ['at an address that is not allowed', { outcome: 'address_not_allowed' }, 400, 'address_not_allowed', false],
  ] as const)('a key %s is not stored, and the one before it stays', async (_, said, status, reason, retryable) => {
    const before = (await put('openai', { key: KEY })).body
    verdict = said
    const answer = await put('openai', { key: 'another-key-of-openai-1111' })
    expect(answer.status).toBe(status)
    expect(answer.body.error.details?.reason).toBe(reason)
    expect(answer.body.error.retryable).toBe(retryable)
    expect(answer.text).not.toContain('another-key')
    expect(await list()).toEqual([before])
  })

  it.each([
    ['openai_compatible', {}, '/endpoint'],
    ['openai', { endpoint: 'https://models.example/v1' }, '/endpoint'],
    ['openai_compatible', { endpoint: 'http://models.example/v1' }, '/endpoint'],
    ['openai_compatible', { endpoint: 'https://user:pw@models.example/v1' }, '/endpoint'],
    ['openai_compatible', { endpoint: 'https://models.example/v1?key=1' }, '/endpoint'],
    ['openai_compatible', { endpoint: 'ftp://models.example' }, '/endpoint'],
    ['openai', { key: 'two words' }, '/key'],
  ])('%s with %j is refused before anything is asked', async (provider, fields, at) => {
    const { status, body } = await put(provider, { key: KEY, ...fields })
    expect(status).toBe(400)
    expect(body.error.details.issues[0].path).toBe(at)
    expect(checked).toEqual([])
  })

  it('an OpenAI-compatible service is checked and shown at its endpoint', async () => {
    const { body } = await put('openai_compatible', { key: KEY, endpoint: 'http://127.0.0.1:9999/v1' })
    expect(body.endpoint).toBe('http://127.0.0.1:9999/v1')
    expect(checked[0]?.endpoint).toBe('http://127.0.0.1:9999/v1')
  })

  it('an unknown provider is not found, and members may not change keys', async () => {
    expect((await put('acme', { key: KEY })).status).toBe(404)
    expect((await put('openai', { key: KEY }, api.keys.member)).status).toBe(403)
  })

  it('a key that is revoked while the provider checks stores nothing', async () => {
    const admin = await api.newKey('admin')
    const slow = await pipelineApi(handlers, {
      db: api.db,
      platform: {
        checkProviderKey: async () => {
          await api.db.owner.query('update parley.api_keys set revoked_at = now() where key_id = $1', [admin.key_id])
          return { outcome: 'accepted', models: [] }
        },
      },
    })
    try {
      const answer = await slow.request('PUT', path('openai'), { key: admin.secret, body: { key: KEY } })
      expect(answer.status).toBe(401)
      expect(await list()).toEqual([])
    } finally {
      await slow.close()
    }
  })
})

describe('DELETE /provider-keys/{provider}', () => {
  it('the key is gone, and a repetition gets the same answer', async () => {
    const { body } = await put('deepgram', { key: KEY })
    expect(await remove('deepgram')).toMatchObject({ status: 200, body })
    expect(await list()).toEqual([])
    expect(await remove('deepgram')).toMatchObject({ status: 200, body })
    expect((await remove('cartesia')).status).toBe(404)
    await put('deepgram', { key: KEY })
    expect(await list()).toHaveLength(1)
  })

  it('the key of another environment is neither listed nor deleted', async () => {
    await put('openai', { key: KEY })
    const other = (await api.newKey('admin', await api.db.scope())).secret
    expect((await api.request('GET', path(), { key: other })).body.items).toEqual([])
    expect((await api.request('DELETE', path('openai'), { key: other })).status).toBe(404)
    expect(await list()).toHaveLength(1)
  })
})
