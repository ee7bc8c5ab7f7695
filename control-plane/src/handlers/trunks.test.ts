import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, tally, trunkBody, type Workspace } from '../testing/workspace.ts'

const INBOUND_URI = /^sip:[0-9a-f]{32}@localhost:5061;transport=tls$/

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.configured()
  await putSecret('sip', 'pw')
})

const putSecret = (secret_id: string, value: string, kind = 'sip_auth') =>
  workspace.call(scope, 'secrets.put', { params: { secret_id }, body: { kind, value } })
const create = (trunk_id: string, over: object = {}) =>
  workspace.call(scope, 'trunks.create', { body: trunkBody(trunk_id, over) })
const get = (trunk_id: string) => workspace.call(scope, 'trunks.get', { params: { trunk_id } })
const update = (trunk_id: string, body: object) =>
  workspace.call(scope, 'trunks.update', { params: { trunk_id }, body })
const remove = (trunk_id: string) => workspace.call(scope, 'trunks.delete', { params: { trunk_id } })

describe('POST /telephony/trunks', () => {
  it('a new trunk is outbound only by default and the engines are notified', async () => {
    const { status, body, auditedResource: about, notifications: announced } = await create('carrier')
    expect(status).toBe(201)
    const { created_at, updated_at, ...rest } = body
    expect(rest).toEqual({ ...trunkBody('carrier'), inbound: false, inbound_sip_uri: null })
    expect(updated_at).toBe(created_at)
    expect(about).toEqual({ kind: 'trunk', id: 'carrier' })
    expect(announced).toEqual([{ topic: 'telephony', id: 'carrier' }])
    expect((await get('carrier')).body).toMatchObject({ ...body, health: { outbound: { calls: 0 }, ping: null } })
  })

  it('a trunk to an address of the platform itself is neither created nor set', async () => {
    const inside = { termination_uri: '127.0.0.1' }
    expect(await create('inside', inside)).toMatchObject(refused('invalid_request', 'address_not_allowed'))
    await create('carrier')
    expect(await update('carrier', inside)).toMatchObject(refused('invalid_request', 'address_not_allowed'))
    expect((await get('carrier')).body.termination_uri).toBe('sbc.example.com')
  })

  it('each inbound trunk gets an unguessable SIP address of its own', async () => {
    const one = (await create('one', { inbound: true })).body.inbound_sip_uri
    const two = (await create('two', { inbound: true })).body.inbound_sip_uri
    expect(one).toMatch(INBOUND_URI)
    expect(two).toMatch(INBOUND_URI)
    expect(two).not.toBe(one)
  })

  it('a trunk can be created only after staff have set the call capacity', async () => {
    scope = await workspace.test.scope()
    await putSecret('sip', 'pw')
    expect(await create('carrier')).toMatchObject(refused('capability_unavailable', 'tenant_not_configured'))
    await workspace.test.owner.query('update parley.tenants set concurrent_capacity = 0 where tenant_id = $1', [
      scope.tenant_id,
    ])
    expect((await create('carrier')).status).toBe(201)
  })

  it('a trunk needs an existing version of a SIP password, and the refusal names what is missing', async () => {
    await putSecret('web', 'pw', 'http_auth')
    const wrong = { none: '1', sip: '2', web: '1' }
    const paths: Record<string, string> = {}
    for (const [id, version] of Object.entries(wrong)) {
      const answer = await create('carrier', { auth_secret: { id, version } })
      expect(answer).toMatchObject(refused('invalid_request', 'secret_not_found'))
      paths[id] = answer.body.error.details.issues[0].path
    }
    expect(paths).toEqual({ none: '/auth_secret/id', sip: '/auth_secret/version', web: '/auth_secret/id' })
    expect(await create('carrier', { auth_secret: { id: 'sip', version: '01' } })).toMatchObject(
      refused('invalid_request', 'secret_not_found'),
    )
    await workspace.call(scope, 'secrets.delete', { params: { secret_id: 'sip' } })
    expect(await create('carrier')).toMatchObject(refused('invalid_request', 'secret_not_found'))
  })

  it('a trunk id is given once, also to concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 15 }, () => create('carrier')))
    expect(tally(answers)).toEqual({ '201': 1, trunk_exists: 14 })
  })

  it('20 concurrent creations stop at 1,000 trunks', async () => {
    await workspace.test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       select $1::uuid, 't' || n, 'T', 'generic_sip', 'a', false from generate_series(1, 997) n`,
      [scope.tenant_id],
    )
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`new${index}`)))
    expect(tally(answers)).toEqual({ '201': 3, limit_reached: 17 })
    expect(await create('t1')).toMatchObject(refused('conflict', 'trunk_exists'))
  })
})

describe('PATCH /telephony/trunks/{trunk_id}', () => {
  it('an update changes the given fields only, and repeating it changes nothing', async () => {
    const before = (await create('carrier')).body
    const { body, notifications: announced } = await update('carrier', {
      name: 'Other',
      termination_uri: 'b.example.com',
    })
    expect(body).toEqual({
      ...before,
      name: 'Other',
      termination_uri: 'b.example.com',
      updated_at: expect.any(String),
    })
    expect(announced).toEqual([{ topic: 'telephony', id: 'carrier' }])
    const again = await update('carrier', { name: 'Other' })
    expect(again).toMatchObject({ body, notifications: [] })
    expect((await update('carrier', {})).body).toEqual(body)
  })

  it('switching inbound off retires the SIP address, and switching it on creates another', async () => {
    const first = (await create('carrier', { inbound: true })).body.inbound_sip_uri
    expect((await update('carrier', { inbound: true })).body.inbound_sip_uri).toBe(first)
    expect((await update('carrier', { name: 'Other' })).body.inbound_sip_uri).toBe(first)
    expect((await update('carrier', { inbound: false })).body).toMatchObject({ inbound: false, inbound_sip_uri: null })
    const second = (await update('carrier', { inbound: true })).body.inbound_sip_uri
    expect(second).toMatch(INBOUND_URI)
    expect(second).not.toBe(first)
  })

  it('the credentials of a trunk can be replaced or removed', async () => {
    await create('carrier')
    await putSecret('sip', 'new pw')
    const renewed = { auth_username: 'ada', auth_secret: { id: 'sip', version: '2' } }
    expect((await update('carrier', renewed)).body).toMatchObject(renewed)
    const unknown = await update('carrier', { auth_username: 'ada', auth_secret: { id: 'none', version: '1' } })
    expect(unknown).toMatchObject(refused('invalid_request', 'secret_not_found'))
    expect((await get('carrier')).body).toMatchObject(renewed)
    const open = { auth_username: null, auth_secret: null }
    expect((await update('carrier', open)).body).toMatchObject(open)
  })

  it('two concurrent updates of different fields are both stored', async () => {
    await create('carrier')
    await Promise.all([update('carrier', { name: 'Other' }), update('carrier', { termination_uri: 'b.example.com' })])
    expect((await get('carrier')).body).toMatchObject({ name: 'Other', termination_uri: 'b.example.com' })
  })
})

describe('DELETE /telephony/trunks/{trunk_id}', () => {
  it('a deletion returns the last state of the trunk, also when repeated, and the id can be used again', async () => {
    const last = (await create('carrier', { inbound: true })).body
    expect((await remove('carrier')).body).toEqual(last)
    expect((await remove('carrier')).body).toEqual(last)
    expect(await get('carrier')).toMatchObject(refused('not_found'))
    expect(await update('carrier', { name: 'x' })).toMatchObject(refused('not_found'))
    const again = (await create('carrier', { inbound: true })).body
    expect(again.inbound_sip_uri).not.toBe(last.inbound_sip_uri)
    expect((await remove('carrier')).body).toEqual(again)
    expect(await remove('never')).toMatchObject(refused('not_found'))
  })

  it('a trunk with numbers cannot be deleted, and the refusal lists the numbers', async () => {
    await create('carrier')
    const numbers = ['+12025550102', '+12025550101']
    for (const phone_number of numbers)
      await workspace.call(scope, 'numbers.import', { body: { phone_number, trunk_id: 'carrier' } })
    const answer = await remove('carrier')
    expect(answer).toMatchObject(refused('conflict', 'trunk_in_use'))
    expect(answer.body.error.details.numbers).toEqual(['+12025550101', '+12025550102'])
    expect((await get('carrier')).status).toBe(200)
  })

  it('concurrent deletion and import never leave a number without a trunk', async () => {
    for (let round = 0; round < 10; round++) {
      await create(`t${round}`)
      const body = { phone_number: `+1202555010${round}`, trunk_id: `t${round}` }
      const answers = await Promise.all([workspace.call(scope, 'numbers.import', { body }), remove(`t${round}`)])
      expect([
        { '201': 1, trunk_in_use: 1 },
        { '200': 1, not_found: 1 },
      ]).toContainEqual(tally(answers))
    }
  })
})

describe('trunks of another environment', () => {
  it('an environment sees no trunk of another environment and may use the same trunk id', async () => {
    await create('carrier')
    const home = scope
    scope = await workspace.configured()
    expect(await get('carrier')).toMatchObject(refused('not_found'))
    expect(await update('carrier', { name: 'mine' })).toMatchObject(refused('not_found'))
    expect(await remove('carrier')).toMatchObject(refused('not_found'))
    expect((await workspace.call(scope, 'trunks.list')).body.items).toEqual([])
    // Its secret is not pinned by an environment that has none of that id.
    expect(await create('carrier')).toMatchObject(refused('invalid_request', 'secret_not_found'))
    await putSecret('sip', 'pw')
    expect((await create('carrier')).status).toBe(201)
    expect((await workspace.call(home, 'trunks.list')).body.items).toHaveLength(1)
  })
})

describe('GET /telephony/trunks', () => {
  it('trunks are listed by id in code point order', async () => {
    for (const id of ['b', 'a_1', 'a-1', '0']) await create(id)
    const first = await workspace.call(scope, 'trunks.list', { query: { limit: 3 } })
    const rest = await workspace.call(scope, 'trunks.list', { query: { limit: 3, cursor: first.body.next_cursor } })
    const ids = [...first.body.items, ...rest.body.items].map(trunk => trunk.trunk_id)
    expect(ids).toEqual(['0', 'a-1', 'a_1', 'b'])
    expect(rest.body.next_cursor).toBeNull()
  })
})
