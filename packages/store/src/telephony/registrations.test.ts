import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { workspace } from '../runs/runs.fixture.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { dialableTrunk } from './dialable-trunk.ts'
import { registrationOf, saveRegistration, type TrunkRegistration } from './registrations.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  scope = await workspace(test)
  await test.owner.query(
    `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
     values ($1, 'carrier', 'Carrier', 'generic_sip', 'sbc.example.com', false)`,
    [scope.tenant_id],
  )
})

const REGISTERED: TrunkRegistration = {
  engine_id: 'e-1',
  fence: '5',
  state: 'registered',
  sip_status: 200,
  detail: 'REGISTER answered 200 OK',
  expires_at: '2100-01-01T00:00:00.000Z',
  service_route: ['<sip:p1.example;lr>', '<sip:p2.example;lr>'],
}
const save = (changes: Partial<TrunkRegistration> = {}, trunk = 'carrier') =>
  test.database.transaction(scope, tx => saveRegistration(tx, scope, trunk, { ...REGISTERED, ...changes }))
const stored = () => registrationOf(test.database.within(scope), scope, 'carrier')
const routeOf = async () => (await dialableTrunk(test.database.within(scope), scope, 'carrier'))?.service_route

describe('the registration of a trunk', () => {
  it('the registration of a trunk is stored and replaced by the engine that holds the lease, and by one with a newer lease', async () => {
    expect(await stored()).toBeNull()
    expect(await save()).toBe(true)
    expect(await stored()).toMatchObject(REGISTERED)
    expect(await save({ state: 'failed', sip_status: null, expires_at: null })).toBe(true)
    expect(await stored()).toMatchObject({ state: 'failed', sip_status: null, expires_at: null })
    expect(await save({ engine_id: 'e-2', fence: '6' })).toBe(true)
    expect(await stored()).toMatchObject({ engine_id: 'e-2', state: 'registered' })
  })

  it('the registration of a trunk is not overwritten by an engine that lost its lease', async () => {
    await save({ engine_id: 'e-2', fence: '6' })
    expect(await save({ state: 'unregistered' })).toBe(false)
    expect(await stored()).toMatchObject({ engine_id: 'e-2', state: 'registered' })
  })

  it('of a trunk that is gone is not stored', async () => {
    expect(await save({}, 'other')).toBe(false)
    await save()
    await test.owner.query('delete from parley.trunks where tenant_id = $1', [scope.tenant_id])
    expect(await stored()).toBeNull()
  })

  it('the registration of a trunk gives outbound calls its Service-Route while it lasts', async () => {
    expect(await routeOf()).toEqual([])
    await save()
    expect(await routeOf()).toEqual(REGISTERED.service_route)
    await save({ expires_at: '2020-01-01T00:00:00.000Z' })
    expect(await routeOf()).toEqual([])
    await save({ state: 'failed' })
    expect(await routeOf()).toEqual([])
  })
})
