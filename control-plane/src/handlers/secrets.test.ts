import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, tally, trunkBody, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.configured()
})

const put = (secret_id: string, value: string, kind = 'sip_auth') =>
  workspace.call(scope, 'secrets.put', { params: { secret_id }, body: { kind, value } })
const remove = (secret_id: string, force = false) =>
  workspace.call(scope, 'secrets.delete', { params: { secret_id }, query: { force } })
const list = (query: object = {}) => workspace.call(scope, 'secrets.list', { query })
const versionsOf = (secret: { versions: { version: string }[] }) => secret.versions.map(one => one.version)

async function draftWith(agent_id: string, content: object) {
  await workspace.publishedAgent(scope, agent_id)
  const { rows } = await workspace.test.owner.query(
    'insert into parley.drafts (tenant_id, agent_id, content) values ($1, $2, $3) returning draft_id',
    [scope.tenant_id, agent_id, JSON.stringify(content)],
  )
  return String(rows[0].draft_id)
}

describe('PUT /secrets/{secret_id}', () => {
  it('a new value adds a version, the current value adds none, and no value is shown', async () => {
    const first = await put('sip', 'one')
    expect(first).toMatchObject({
      status: 200,
      body: { secret_id: 'sip', kind: 'sip_auth', version: '1' },
      auditedResource: { kind: 'secret', id: 'sip' },
    })
    expect(first.body.updated_at).toBe(first.body.created_at)
    expect((await put('sip', 'one')).body).toEqual(first.body)
    expect(versionsOf((await put('sip', 'two')).body)).toEqual(['1', '2'])
    const back = (await put('sip', 'one')).body
    expect(back.version).toBe('3')
    expect(versionsOf(back)).toEqual(['1', '2', '3'])
    expect((await list()).body.items).toEqual([back])
  })

  it('the value of a secret is stored encrypted', async () => {
    await put('sip', 'swordfish')
    const { rows } = await workspace.test.owner.query(
      "select encode(sealed, 'escape') as bytes from parley.secret_versions where tenant_id = $1",
      [scope.tenant_id],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0].bytes).not.toContain('swordfish')
  })

  it('a secret cannot change its kind', async () => {
    await put('sip', 'one')
    expect(await put('sip', 'one', 'http_auth')).toMatchObject(refused('conflict', 'kind_mismatch'))
  })

  it('concurrent writes of a new secret create one secret with one version per value', async () => {
    const same = await Promise.all(Array.from({ length: 10 }, () => put('same', 'one')))
    expect(tally(same)).toEqual({ '200': 10 })
    const others = await Promise.all(Array.from({ length: 10 }, (_, index) => put('others', `value ${index}`)))
    expect(others.map(answer => Number(answer.body.version)).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ])
    const { items } = (await list()).body
    expect(items.map(versionsOf).map((versions: string[]) => versions.length)).toEqual([10, 1])
  })

  it('20 concurrent creations stop at 1,000 secrets, and existing secrets still accept new versions', async () => {
    await workspace.test.owner.query(
      `insert into parley.secrets (tenant_id, secret_id, kind, version, deleted_at)
       select $1::uuid, 's' || n, 'sip_auth', 0, case when n > 997 then now() end from generate_series(1, 1000) n`,
      [scope.tenant_id],
    )
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => put(`new${index}`, 'pw')))
    expect(tally(answers)).toEqual({ '200': 3, limit_reached: 17 })
    expect(await put('s998', 'pw')).toMatchObject(refused('conflict', 'limit_reached'))
    const made = answers.findIndex(answer => answer.status === 200)
    expect((await put(`new${made}`, 'another')).body.version).toBe('2')
  })
})

describe('DELETE /secrets/{secret_id}', () => {
  it('a deletion returns the last state of the secret, also when repeated, and 404 for an unknown secret', async () => {
    await put('sip', 'one')
    const last = (await put('sip', 'two')).body
    const first = await remove('sip')
    expect(first).toMatchObject({ status: 200, body: last, auditedResource: { kind: 'secret', id: 'sip' } })
    expect((await remove('sip')).body).toEqual(last)
    expect((await list()).body.items).toEqual([])
    expect(await remove('other')).toMatchObject(refused('not_found'))
    const { rows } = await workspace.test.owner.query('select 1 from parley.secret_versions where tenant_id = $1', [
      scope.tenant_id,
    ])
    expect(rows).toEqual([])
  })

  it('a deleted id can be used again, also for another kind, and its version numbers continue', async () => {
    await put('sip', 'one')
    await put('sip', 'two')
    await remove('sip')
    const again = (await put('sip', 'two', 'http_auth')).body
    expect(again).toMatchObject({ kind: 'http_auth', version: '3' })
    expect(versionsOf(again)).toEqual(['3'])
    expect((await remove('sip')).body).toEqual(again)
  })

  it('deletion is refused with the list of trunks, live versions and open drafts that use the secret; force deletes', async () => {
    await put('sip', 'one')
    await workspace.trunk(scope, 'carrier')
    await workspace.publishedAgent(scope, 'live', { plan: { notification: { secret: { id: 'sip', version: '1' } } } })
    const draft_id = await draftWith('drafted', { actions: [{ auth: { secret: { id: 'sip', version: '1' } } }] })
    const answer = await remove('sip')
    expect(answer).toMatchObject(refused('conflict', 'secret_in_use'))
    expect(answer.body.error.details.references).toEqual([
      { kind: 'trunk', id: 'carrier' },
      { kind: 'agent', id: 'live' },
      { kind: 'draft', id: draft_id },
    ])
    expect((await remove('sip', true)).status).toBe(200)
    expect((await remove('sip')).status).toBe(200)
  })

  it('archived agents, versions that are not live and pins of replaced versions do not prevent deletion', async () => {
    const plan = { notification: { secret: { id: 'sip', version: '1' } } }
    await put('sip', 'one')
    await workspace.publishedAgent(scope, 'archived', { plan, archived: true })
    await workspace.publishedAgent(scope, 'headless', { plan, headless: true })
    expect((await remove('sip')).status).toBe(200)
    await workspace.publishedAgent(scope, 'live', { plan })
    await put('sip', 'one')
    expect((await remove('sip')).status).toBe(200)
  })

  it('concurrent deletion and use of a secret never leave a trunk with a deleted secret', async () => {
    for (let round = 0; round < 10; round++) {
      const secret_id = `sip${round}`
      await put(secret_id, 'pw')
      const body = trunkBody(`t${round}`, { auth_secret: { id: secret_id, version: '1' } })
      const [made, gone] = await Promise.all([workspace.call(scope, 'trunks.create', { body }), remove(secret_id)])
      const outcome = tally([made, gone])
      expect([
        { '201': 1, secret_in_use: 1 },
        { '200': 1, secret_not_found: 1 },
      ]).toContainEqual(outcome)
    }
  })

  it('secrets of other environments can be neither seen nor deleted', async () => {
    await put('sip', 'one')
    await workspace.trunk(scope, 'carrier')
    const home = scope
    scope = await workspace.configured()
    expect(await remove('sip')).toMatchObject(refused('not_found'))
    expect((await put('sip', 'mine')).body.version).toBe('1')
    expect((await remove('sip')).status).toBe(200)
    expect((await workspace.call(home, 'secrets.list')).body.items).toHaveLength(1)
  })
})

describe('GET /secrets', () => {
  it('secrets are listed by id in code point order', async () => {
    for (const id of ['b', 'B', 'a:1', 'a', 'a.1', '0']) await put(id, 'pw')
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const { body } = await list({ limit: 2, ...(cursor !== null && { cursor }) })
      ids.push(...body.items.map((secret: { secret_id: string }) => secret.secret_id))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(ids).toEqual(['0', 'B', 'a', 'a.1', 'a:1', 'b'])
  })
})
