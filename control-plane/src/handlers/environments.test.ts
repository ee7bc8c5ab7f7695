import type { Scope } from '@parley/contract'
import { keyHash } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, tally, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let production: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  production = await workspace.test.scope()
})

const ensureSandbox = (scope = production) => workspace.call(scope, 'environments.ensure_sandbox', { body: {} })

describe('GET /environments', () => {
  it('an organisation has production, then also a sandbox, and the list names the environment of the key', async () => {
    await workspace.test.scope()
    const before = await workspace.call(production, 'environments.list')
    expect(before.body).toMatchObject({
      items: [{ environment: 'production', tenant_id: production.tenant_id, admission_enabled: false }],
      selected: 'production',
    })
    const { environment } = (await ensureSandbox()).body
    const sandbox = { ...production, environment: 'sandbox', tenant_id: environment.tenant_id }
    const after = await workspace.call(sandbox, 'environments.list')
    expect(after.body.items.map((one: { environment: string }) => one.environment)).toEqual(['production', 'sandbox'])
    expect(after.body.items[1]).toEqual(environment)
    expect(after.body.selected).toBe('sandbox')
  })
})

describe('POST /environments/sandbox', () => {
  it('the first admin key of a new sandbox opens the sandbox and not production', async () => {
    const { status, body, auditedResource } = await ensureSandbox()
    expect(status).toBe(201)
    expect(body.environment).toMatchObject({
      environment: 'sandbox',
      admission_enabled: false,
      concurrent_capacity: null,
    })
    expect(body.key).toMatchObject({ role: 'admin', expires_at: null, revoked_at: null })
    expect(body.key.secret).toMatch(/^parley_test_[0-9A-Za-z]{40}$/)
    expect(auditedResource).toEqual({ kind: 'operation', id: 'environments/sandbox' })
    const sandbox = { ...production, environment: 'sandbox', tenant_id: body.environment.tenant_id }
    expect(await workspace.test.database.keyOf(keyHash(body.key.secret))).toMatchObject({
      role: 'admin',
      scope: sandbox,
    })
    const { secret: _, ...shown } = body.key
    expect((await workspace.call(sandbox, 'keys.list')).body.items).toEqual([shown])
    expect((await workspace.call(production, 'keys.list')).body.items).toEqual([])
  })

  it('20 concurrent requests create one sandbox, and one of them gets the key', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ensureSandbox()))
    expect(tally(answers)).toEqual({ '201': 1, '200': 19 })
    expect(new Set(answers.map(answer => answer.body.environment.tenant_id)).size).toBe(1)
    expect(answers.filter(answer => answer.body.key !== null)).toHaveLength(1)
    const { rows } = await workspace.test.owner.query(
      'select count(*)::int from parley.api_keys join parley.tenants using (tenant_id) where owner_id = $1',
      [production.owner_id],
    )
    expect(rows).toEqual([{ count: 1 }])
  })

  it('a key of the sandbox may not create a sandbox', async () => {
    const { tenant_id } = (await ensureSandbox()).body.environment
    const sandbox = { ...production, environment: 'sandbox', tenant_id }
    expect(await ensureSandbox(sandbox)).toMatchObject(refused('forbidden', 'production_only'))
  })

  it('a scope whose owner and tenant do not belong together creates nothing', async () => {
    const stranger = await workspace.test.scope()
    const mixed = { ...production, owner_id: stranger.owner_id }
    await expect(ensureSandbox(mixed)).rejects.toThrow()
    expect((await workspace.call(stranger, 'environments.list')).body.items).toHaveLength(1)
    expect((await workspace.call(production, 'environments.list')).body.items).toHaveLength(1)
  })
})
