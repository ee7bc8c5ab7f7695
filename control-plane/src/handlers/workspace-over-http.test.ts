import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PipelineApi, pipelineApi, type RequestOptions } from '../testing/pipeline-api.ts'
import { trunkBody } from '../testing/workspace.ts'
import { auditHandlers } from './audit.ts'
import { environmentHandlers } from './environments.ts'
import { keyHandlers } from './keys.ts'
import { secretHandlers } from './secrets.ts'
import { trunkHandlers } from './trunks.ts'

const handlers = { ...auditHandlers, ...environmentHandlers, ...keyHandlers, ...secretHandlers, ...trunkHandlers }

let api: PipelineApi
let next = 0

beforeAll(async () => {
  api = await pipelineApi(handlers)
})
afterAll(() => api?.close())
beforeEach(() => {
  next++
})

const createKey = (options: RequestOptions = {}, body: object = { name: 'ci', role: 'admin' }) =>
  api.request('POST', '/api/v1/keys', { idempotencyKey: `create-${next}`, body, ...options })
const listKeys = (key: string) => api.request('GET', '/api/v1/keys', { key })

describe('API keys over HTTP', () => {
  it('a key can revoke itself and is unknown afterwards', async () => {
    const { secret, key_id } = (await createKey()).body
    expect((await listKeys(secret)).status).toBe(200)
    const revoked = await api.request('DELETE', `/api/v1/keys/${key_id}`, { key: secret })
    expect(revoked.status).toBe(200)
    expect(revoked.body.revoked_at).not.toBeNull()
    expect((await listKeys(secret)).status).toBe(401)
    // The last use is stored every few seconds, so it may be stored by now.
    const { last_used_at: _, ...same } = revoked.body
    expect((await api.request('DELETE', `/api/v1/keys/${key_id}`)).body).toMatchObject(same)
  })

  it('a revoked key stops working at once, in whatever letter case its id was given', async () => {
    const { secret, key_id } = (await createKey()).body
    expect((await listKeys(secret)).status).toBe(200)
    const revoked = await api.request('DELETE', `/api/v1/keys/${key_id.toUpperCase()}`)
    expect(revoked).toMatchObject({ status: 200, body: { key_id } })
    expect((await listKeys(secret)).status).toBe(401)
    const { items } = (await api.request('GET', '/api/v1/audit?limit=1')).body
    expect(items[0]).toMatchObject({ action: 'keys.revoke', resource: { id: `keys/${key_id}` } })
  })

  it('a rotated secret stops working at once, or after its overlap', async () => {
    const { secret, key_id } = (await createKey()).body
    const rotate = (idempotencyKey: string, body: object) =>
      api.request('POST', `/api/v1/keys/${key_id}/rotate`, { idempotencyKey, body })
    expect((await listKeys(secret)).status).toBe(200)
    const second = (await rotate(`rotate-${next}-1`, {})).body.secret
    expect((await listKeys(secret)).status).toBe(401)
    const third = (await rotate(`rotate-${next}-2`, { overlap_seconds: 60 })).body.secret
    expect((await listKeys(second)).status).toBe(200)
    expect((await listKeys(third)).status).toBe(200)
  })

  it('a key whose answer was lost is returned again by a repetition, and exists once', async () => {
    const first = await createKey()
    const again = await createKey()
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.text).toBe(first.text)
    expect(await createKey({}, { name: 'other', role: 'admin' })).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_conflict' } },
    })
    const { rows } = await api.db.owner.query("select count(*)::int from parley.api_keys where name = 'other'")
    expect(rows).toEqual([{ count: 0 }])
  })

  it('the log and the audit log contain no secret of a key', async () => {
    const { secret, key_id } = (await createKey()).body
    await listKeys(secret)
    const { items } = (await api.request('GET', '/api/v1/audit')).body
    expect(items[0]).toMatchObject({
      action: 'keys.create',
      outcome: 'allowed',
      resource: { tenant_id: api.scope.tenant_id, kind: 'operation', id: `keys/${key_id}` },
    })
    expect(api.logged()).not.toContain(secret)
    expect(JSON.stringify(items)).not.toContain(secret)
  })
})

describe('a refused write over HTTP', () => {
  it('a refused write stores nothing but an audit item that names its resource', async () => {
    const refused = await api.request('POST', '/api/v1/telephony/trunks', {
      idempotencyKey: `trunk-${next}`,
      body: trunkBody('carrier'),
    })
    expect(refused).toMatchObject({ status: 409, body: { error: { details: { reason: 'tenant_not_configured' } } } })
    const { items } = (await api.request('GET', '/api/v1/audit?limit=1')).body
    expect(items[0]).toMatchObject({
      action: 'trunks.create',
      outcome: 'failed',
      resource: { kind: 'trunk', id: 'carrier' },
    })
    expect((await api.request('GET', '/api/v1/telephony/trunks')).body.items).toEqual([])
  })
})

describe('the sandbox over HTTP', () => {
  it('the first key of the sandbox opens the sandbox and sees nothing of production', async () => {
    await api.request('PUT', '/api/v1/secrets/sip', { body: { kind: 'sip_auth', value: 'pw' } })
    const made = await api.request('POST', '/api/v1/environments/sandbox', { body: {} })
    expect(made.status).toBe(201)
    const key = made.body.key.secret
    expect((await api.request('GET', '/api/v1/environments', { key })).body.selected).toBe('sandbox')
    expect((await api.request('GET', '/api/v1/secrets', { key })).body.items).toEqual([])
    expect((await api.request('DELETE', '/api/v1/secrets/sip', { key })).status).toBe(404)
    const again = await api.request('POST', '/api/v1/environments/sandbox', { body: {} })
    expect(again).toMatchObject({ status: 200, body: { environment: made.body.environment, key: null } })
    const fromThere = await api.request('POST', '/api/v1/environments/sandbox', { key, body: {} })
    expect(fromThere).toMatchObject({ status: 403, body: { error: { details: { reason: 'production_only' } } } })
  })
})
