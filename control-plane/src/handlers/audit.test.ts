import type { Scope } from '@parley/contract'
import { writeAudit } from '@parley/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.test.scope()
})

const list = (query: object = {}) => workspace.call(scope, 'audit.list', { query })

async function storeItem(action: string, at: string, resource: { kind: string; id: string } | null = null) {
  const { owner_id, environment, tenant_id } = scope
  const principal = { owner_id, environment, kind: 'api_key', id: tenant_id } as const
  const entry = { principal, action, resource, outcome: 'allowed', request_id: 'r-1' } as const
  await workspace.test.database.transaction(scope, tx => writeAudit(tx, scope, entry))
  await workspace.test.owner.query('update parley.audit set occurred_at = $1 where tenant_id = $2 and action = $3', [
    at,
    tenant_id,
    action,
  ])
}

describe('GET /audit', () => {
  it('an audit item names the principal, the action, the resource and the outcome', async () => {
    await storeItem('secrets.put', '2026-03-01T10:00:00Z', { kind: 'secret', id: 'sip' })
    await storeItem('tenant_settings.update', '2026-03-01T10:00:01Z')
    const { items } = (await list()).body
    expect(items).toHaveLength(2)
    expect(items[0]).toMatchObject({ action: 'tenant_settings.update', resource: null })
    expect(items[1]).toEqual({
      audit_id: expect.any(String),
      occurred_at: '2026-03-01T10:00:00.000Z',
      principal: { owner_id: scope.owner_id, environment: 'production', kind: 'api_key', id: scope.tenant_id },
      action: 'secrets.put',
      resource: { tenant_id: scope.tenant_id, kind: 'secret', id: 'sip' },
      outcome: 'allowed',
      request_id: 'r-1',
    })
  })

  it('audit items between `after` and `before` are listed newest first, with any UTC offset, page by page', async () => {
    for (const second of [0, 1, 2, 3]) await storeItem(`a${second}`, `2026-03-01T10:00:0${second}Z`)
    const actions = async (query: object) =>
      (await list(query)).body.items.map((item: { action: string }) => item.action)
    expect(await actions({})).toEqual(['a3', 'a2', 'a1', 'a0'])
    expect(await actions({ after: '2026-03-01T10:00:01Z', before: '2026-03-01T10:00:03Z' })).toEqual(['a2', 'a1'])
    expect(await actions({ after: '2026-03-01T12:00:02+02:00' })).toEqual(['a3', 'a2'])
    expect(await actions({ after: '2026-03-01T10:00:02.0001Z' })).toEqual(['a3'])
    const filter = { after: '2026-03-01T10:00:01Z', limit: 2 }
    const first = (await list(filter)).body
    await storeItem('late', '2026-03-01T11:00:00Z')
    expect(await actions({ ...filter, cursor: first.next_cursor })).toEqual(['a1'])
    expect(await list({ cursor: first.next_cursor })).toMatchObject(refused('invalid_request', 'invalid_cursor'))
  })

  it('the audit log of an environment shows no items of another environment', async () => {
    await storeItem('a0', '2026-03-01T10:00:00Z')
    scope = await workspace.test.scope({ environment: 'sandbox', owner_id: scope.owner_id })
    expect((await list()).body).toEqual({ items: [], next_cursor: null })
  })
})
