import type { Scope } from '@parley/contract'
import { keyHash } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, tally, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.test.scope()
})

const create = (body: object = {}) =>
  workspace.call(scope, 'keys.create', { body: { name: 'ci', role: 'member', ...body } })
const rotate = (key_id: string, body: object = {}) => workspace.call(scope, 'keys.rotate', { params: { key_id }, body })
const revoke = (key_id: string) => workspace.call(scope, 'keys.revoke', { params: { key_id } })
const holderOf = (secret: string) => workspace.test.database.keyOf(keyHash(secret))

async function withActiveKeys(count: number) {
  await workspace.test.owner.query(
    `insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash)
     select $1::uuid, 'k' || n, 'viewer', 'parley_live_000000', sha256(($1::uuid::text || n)::bytea) from generate_series(1, $2) n`,
    [scope.tenant_id, count],
  )
}

describe('POST /keys', () => {
  it('the secret of a new key is shown once, grants its role in this environment, and only its hash is stored', async () => {
    const {
      status,
      body,
      auditedResource: about,
    } = await create({ can_dial: true, expires_at: '2100-01-01T02:00:00+02:00' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'ci', role: 'member', can_dial: true, expires_at: '2100-01-01T00:00:00.000Z' })
    expect(body.secret).toMatch(/^parley_live_[0-9A-Za-z]{40}$/)
    expect(body.prefix).toBe(body.secret.slice(0, 18))
    expect(about).toEqual({ kind: 'operation', id: `keys/${body.key_id}` })
    expect(await holderOf(body.secret)).toMatchObject({ key_id: body.key_id, role: 'member', can_dial: true, scope })
    const { rows } = await workspace.test.owner.query('select k::text from parley.api_keys k')
    expect(JSON.stringify(rows)).not.toContain(body.secret)
    const listed = await workspace.call(scope, 'keys.list')
    const { secret: _, ...shown } = body
    expect(listed.body.items).toEqual([shown])
  })

  it('secrets of sandbox keys have a prefix of their own', async () => {
    scope = await workspace.test.scope({ environment: 'sandbox' })
    expect((await create()).body.secret).toMatch(/^parley_test_[0-9A-Za-z]{40}$/)
  })

  it('an expiry in the past is refused and the refusal names the field', async () => {
    const { body } = await create({ expires_at: '2020-01-01T00:00:00Z' })
    expect(body.error).toMatchObject({
      code: 'invalid_request',
      details: { issues: [{ path: '/expires_at', message: 'is not in the future' }] },
    })
    expect((await workspace.call(scope, 'keys.list')).body.items).toEqual([])
  })

  it('20 concurrent creations stop at 1,000 active keys; expired and revoked keys do not count', async () => {
    await withActiveKeys(999)
    await workspace.test.owner.query(
      `update parley.api_keys set expires_at = '2020-01-01' where tenant_id = $1 and name in ('k1', 'k2')`,
      [scope.tenant_id],
    )
    const { rows } = await workspace.test.owner.query(
      `select key_id from parley.api_keys where tenant_id = $1 and name = 'k3'`,
      [scope.tenant_id],
    )
    await revoke(rows[0].key_id)
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
    expect(tally(answers)).toEqual({ '201': 4, limit_reached: 16 })
  })
})

describe('POST /keys/{key_id}/rotate', () => {
  it('rotation without overlap replaces the secret at once', async () => {
    const first = (await create()).body
    const { status, body, notifications: announced } = await rotate(first.key_id)
    expect(status).toBe(200)
    const { secret, prefix, ...same } = body
    expect(first).toMatchObject(same)
    expect(secret).not.toBe(first.secret)
    expect(prefix).toBe(secret.slice(0, 18))
    expect(announced).toEqual([{ topic: 'keys', id: first.key_id }])
    expect(await holderOf(first.secret)).toBeNull()
    expect(await holderOf(secret)).toMatchObject({ key_id: first.key_id })
  })

  it('with an overlap the old secret works until the time that the answer states', async () => {
    const first = (await create()).body
    const { body } = await rotate(first.key_id, { overlap_seconds: 60 })
    const holder = await holderOf(first.secret)
    expect(Date.parse(holder!.valid_until!) - Date.now()).toBeGreaterThan(50_000)
    expect(Date.parse(holder!.valid_until!) - Date.now()).toBeLessThan(61_000)
    expect((await holderOf(body.secret))?.valid_until).toBeNull()
    await workspace.test.owner.query("update parley.api_keys set previous_until = now() - interval '1 ms'")
    expect(await holderOf(first.secret)).toBeNull()
    expect(await holderOf(body.secret)).not.toBeNull()
  })

  it('a key has at most two valid secrets: a second rotation ends the oldest', async () => {
    const first = (await create()).body
    const second = (await rotate(first.key_id, { overlap_seconds: 60 })).body
    await rotate(first.key_id, { overlap_seconds: 60 })
    expect(await holderOf(first.secret)).toBeNull()
    expect(await holderOf(second.secret)).not.toBeNull()
  })

  it('a revoked or expired key cannot be rotated', async () => {
    const revoked = (await create()).body
    await revoke(revoked.key_id)
    expect(await rotate(revoked.key_id)).toMatchObject(refused('conflict', 'key_revoked'))
    const expired = (await create()).body
    await workspace.test.owner.query("update parley.api_keys set expires_at = '2020-01-01' where key_id = $1", [
      expired.key_id,
    ])
    expect(await rotate(expired.key_id)).toMatchObject(refused('conflict', 'key_revoked'))
  })
})

describe('DELETE /keys/{key_id}', () => {
  it('a revoked key opens nothing, stays in the list, and a repeated revocation gets the same answer', async () => {
    const key = (await create()).body
    const first = await revoke(key.key_id)
    expect(first.status).toBe(200)
    expect(first.body.revoked_at).not.toBeNull()
    expect(first.notifications).toEqual([{ topic: 'keys', id: key.key_id }])
    expect(await holderOf(key.secret)).toBeNull()
    expect((await revoke(key.key_id)).body).toEqual(first.body)
    expect((await workspace.call(scope, 'keys.list')).body.items).toEqual([first.body])
  })

  it('a key of another environment cannot be revoked, rotated or listed', async () => {
    const key = (await create()).body
    scope = await workspace.test.scope()
    expect(await revoke(key.key_id)).toMatchObject(refused('not_found'))
    expect(await rotate(key.key_id)).toMatchObject(refused('not_found'))
    expect((await workspace.call(scope, 'keys.list')).body.items).toEqual([])
    expect(await holderOf(key.secret)).not.toBeNull()
  })
})

describe('GET /keys', () => {
  it('keys are listed newest first, and keys created during paging do not shift the pages', async () => {
    await withActiveKeys(7)
    const first = await workspace.call(scope, 'keys.list', { query: { limit: 3 } })
    const late = (await create()).body
    const seen = [...first.body.items]
    for (let cursor = first.body.next_cursor; cursor !== null; ) {
      const { body } = await workspace.call(scope, 'keys.list', { query: { limit: 2, cursor } })
      seen.push(...body.items)
      cursor = body.next_cursor
    }
    expect(seen).toHaveLength(7)
    expect(new Set(seen.map(key => key.key_id)).size).toBe(7)
    expect(seen.map(key => key.key_id)).not.toContain(late.key_id)
    const order = [...seen].sort((a, b) =>
      a.created_at < b.created_at || (a.created_at === b.created_at && a.key_id > b.key_id) ? 1 : -1,
    )
    expect(seen).toEqual(order)
  })

  it('the cursor of another list or environment is refused', async () => {
    await withActiveKeys(2)
    const cursor = (await workspace.call(scope, 'keys.list', { query: { limit: 1 } })).body.next_cursor
    expect(await workspace.call(scope, 'secrets.list', { query: { cursor } })).toMatchObject(
      refused('invalid_request', 'invalid_cursor'),
    )
    scope = await workspace.test.scope()
    expect(await workspace.call(scope, 'keys.list', { query: { cursor } })).toMatchObject(
      refused('invalid_request', 'invalid_cursor'),
    )
  })
})
