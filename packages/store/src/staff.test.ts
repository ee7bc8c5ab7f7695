import type { Scope } from '@parley/contract'
import { SeededRandom } from '@parley/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHash } from './api-keys.ts'
import {
  auditMasterKeyRotation,
  createOrganisation,
  createStaffKey,
  listOrganisations,
  readEnvironment,
  setEnvironment,
  setTrunkDetails,
  staffScope,
} from './staff.ts'
import { asStaff } from './staff-connection.ts'
import { type TestDatabase, testDatabase } from './testing/index.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const staff: <R>(work: Parameters<typeof asStaff<R>>[1]) => Promise<R> = work => asStaff(test.owner.url, work)

/** What the people of an environment read in its audit. */
async function auditOf(scope: Scope) {
  const items = test.database.within(scope).selectFrom('audit')
  return items
    .select(['action', 'principal', 'resource_kind', 'resource_id', 'outcome'])
    .orderBy('occurred_at')
    .execute()
}

describe('staff', () => {
  it('staff create an organisation with a production environment that admits no runs yet', async () => {
    const none = await staff(tx => staffScope(tx, null)).catch(error => error)
    expect(none).toMatchObject({ code: 'environment_not_found', message: 'there is no environment' })
    const made = await staff(tx => createOrganisation(tx, 'Clinic'))
    expect(made).toMatchObject({
      organisation: 'Clinic',
      environment: 'production',
      name: 'Clinic',
      admission_enabled: false,
      concurrent_capacity: null,
      rate_limit: null,
      destinations: null,
    })
    const scope = await staff(tx => staffScope(tx, null))
    expect(scope).toEqual({ owner_id: made.owner_id, environment: 'production', tenant_id: made.tenant_id })
    expect(await auditOf(scope)).toEqual([
      {
        action: 'staff.create_organisation',
        principal: { owner_id: made.owner_id, environment: 'production', kind: 'system', id: 'staff' },
        resource_kind: 'operation',
        resource_id: `organisations/${made.owner_id}`,
        outcome: 'allowed',
      },
    ])
    expect(await staff(listOrganisations)).toMatchObject([
      { name: 'Clinic', environments: [{ environment: 'production', tenant_id: made.tenant_id }] },
    ])
  })

  it('an ambiguous environment name gives an error that lists the environments', async () => {
    const scope = await test.scope()
    const other = await test.scope()
    const unclear = await staff(tx => staffScope(tx, null)).catch(error => error)
    expect(unclear.message).toContain(scope.tenant_id)
    expect(unclear.message).toContain(other.tenant_id)
    for (const unknown of ['01890000-0000-7000-8000-000000000000', "'; drop table parley.tenants; --"])
      await expect(staff(tx => staffScope(tx, unknown))).rejects.toMatchObject({ code: 'environment_not_found' })
    expect(await staff(tx => staffScope(tx, scope.tenant_id.toUpperCase()))).toEqual(scope)
  })

  it('staff set the limits of one environment, and each change is written to its audit', async () => {
    const [scope, other] = [await test.scope(), await test.scope()]
    await staff(tx => setEnvironment(tx, scope, { set: 'capacity', value: 20 }))
    await staff(tx => setEnvironment(tx, scope, { set: 'admission', value: true }))
    await staff(tx => setEnvironment(tx, scope, { set: 'rate_limit', value: { per_second: 5, burst: 9 } }))
    const destinations = { countries: ['DE', 'US'], allow_prefixes: ['+49180'] }
    const shown = await staff(tx => setEnvironment(tx, scope, { set: 'destinations', value: destinations }))
    const set = {
      concurrent_capacity: 20,
      admission_enabled: true,
      rate_limit: { per_second: 5, burst: 9 },
      destinations,
    }
    expect(shown).toMatchObject(set)
    expect(await staff(tx => readEnvironment(tx, scope))).toEqual(shown)
    expect(await staff(tx => readEnvironment(tx, other))).toMatchObject({
      concurrent_capacity: null,
      destinations: null,
    })
    await staff(tx => setEnvironment(tx, scope, { set: 'rate_limit', value: null }))
    await staff(tx => setEnvironment(tx, scope, { set: 'destinations', value: null }))
    expect(await staff(tx => readEnvironment(tx, scope))).toMatchObject({ rate_limit: null, destinations: null })
    expect((await auditOf(scope)).map(({ action }) => action)).toEqual([
      'staff.set_capacity',
      'staff.set_admission',
      'staff.set_rate_limit',
      'staff.set_destinations',
      'staff.set_rate_limit',
      'staff.set_destinations',
    ])
    expect(await auditOf(other)).toEqual([])
  })

  it('staff set and clear single fields of a trunk', async () => {
    const scope = await test.scope()
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, 'main', 'Main', 'generic_sip', 'sip.example.com', false)`,
      [scope.tenant_id],
    )
    await staff(tx => setTrunkDetails(tx, scope, 'main', { port: 5070, transport: 'tcp', source: ['192.0.2.0/24'] }))
    const details = await staff(tx => setTrunkDetails(tx, scope, 'main', { port: null, media: 'rtp' }))
    expect(details).toEqual({ transport: 'tcp', media: 'rtp', source: ['192.0.2.0/24'] })
    const stored = await test.database.within(scope).selectFrom('trunks').select('details').executeTakeFirstOrThrow()
    expect(stored.details).toEqual(details)
    await expect(staff(tx => setTrunkDetails(tx, scope, 'mian', { port: 1 }))).rejects.toMatchObject({
      code: 'trunk_not_found',
      message: 'the environment has no trunk "mian"; it has main',
    })
    expect(await auditOf(scope)).toMatchObject([
      { action: 'staff.set_trunk', resource_kind: 'trunk', resource_id: 'main' },
      { action: 'staff.set_trunk' },
    ])
  })

  it('staff create a working API key whose secret is not stored', async () => {
    const scope = await test.scope()
    const key = { name: 'first', role: 'member', can_dial: true } as const
    const made = await staff(tx => createStaffKey(tx, scope, key, new SeededRandom(1)))
    expect(made.secret).toMatch(/^parley_live_[0-9A-Za-z]{40}$/)
    expect(await test.database.keyOf(keyHash(made.secret))).toMatchObject({
      key_id: made.key_id,
      role: 'member',
      scope,
    })
    const { rows } = await test.owner.query(
      'select to_jsonb(k)::text as row from parley.api_keys k where key_id = $1',
      [made.key_id],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0].row).not.toContain(made.secret)
    expect(rows[0].row).not.toContain(made.secret.replace('parley_live_', ''))
    expect(await auditOf(scope)).toMatchObject([{ action: 'staff.create_key', resource_id: `keys/${made.key_id}` }])
  })

  it('a failed staff command is rolled back, and a command for all environments is audited in each', async () => {
    const scope = await test.scope()
    const failing = staff(async tx => {
      await setEnvironment(tx, scope, { set: 'capacity', value: 7 })
      throw new Error('halfway')
    })
    await expect(failing).rejects.toThrow('halfway')
    expect(await staff(tx => readEnvironment(tx, scope))).toMatchObject({ concurrent_capacity: null })
    await staff(auditMasterKeyRotation)
    expect((await auditOf(scope)).map(({ action }) => action)).toEqual(['staff.rotate_master_key'])
  })

  it('staff get an explanation when the database is away or has no Parley schema', async () => {
    const url = new URL(test.owner.url)
    url.port = '1'
    await expect(asStaff(url.href, listOrganisations)).rejects.toMatchObject({ code: 'database_unavailable' })
    url.href = test.owner.url
    url.pathname = '/postgres'
    await expect(asStaff(url.href, listOrganisations)).rejects.toMatchObject({ code: 'database_misconfigured' })
  })
})
