import type { Role, Scope } from '@parley/contract'
import type { Random } from '@parley/kernel'
import { sql } from 'kysely'
import { insertKey, type KeyRow, newKeySecret } from './api-keys.ts'
import { writeAudit } from './audit.ts'
import { StoreError } from './errors.ts'
import type { Queries } from './protocol.ts'
import type { Destinations } from './schema.ts'
import { statementTime } from './statements.ts'
import type { TrunkDetails } from './telephony/trunk-details.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Most existing items that an error lists. */
const MAX_NAMED = 20

/** An environment as staff see it. */
interface StaffEnvironment {
  readonly owner_id: string
  readonly organisation: string
  readonly environment: 'production' | 'sandbox'
  readonly tenant_id: string
  readonly name: string
  readonly display_name: string | null
  readonly admission_enabled: boolean
  readonly concurrent_capacity: number | null
  readonly daily_call_limit: number | null
  /** Null: the platform's. */
  readonly rate_limit: { readonly per_second: number; readonly burst: number } | null
  /** Countries that it may call; null: those of its own numbers. */
  readonly destinations: Destinations | null
  readonly created_at: string
}

interface StaffOrganisation {
  readonly owner_id: string
  readonly name: string
  readonly created_at: string
  readonly environments: readonly { readonly environment: 'production' | 'sandbox'; readonly tenant_id: string }[]
}

function selectEnvironments(tx: Queries) {
  return tx
    .selectFrom('tenants')
    .innerJoin('organisations', 'organisations.owner_id', 'tenants.owner_id')
    .select([
      'tenants.owner_id',
      'organisations.name as organisation',
      'environment',
      'tenant_id',
      'tenants.name',
      'display_name',
      'admission_enabled',
      'concurrent_capacity',
      'daily_call_limit',
      'rate_per_second',
      'rate_burst',
      'destinations',
      'tenants.created_at',
    ])
}

/** Makes an organisation and its production environment. */
export async function createOrganisation(tx: Queries, name: string): Promise<StaffEnvironment> {
  const { owner_id } = await tx
    .insertInto('organisations')
    .values({ name })
    .returning('owner_id')
    .executeTakeFirstOrThrow()
  const { tenant_id } = await tx
    .insertInto('tenants')
    .values({ owner_id, environment: 'production', name })
    .returning('tenant_id')
    .executeTakeFirstOrThrow()
  const scope: Scope = { owner_id, environment: 'production', tenant_id }
  await audit(tx, scope, 'staff.create_organisation', { kind: 'operation', id: `organisations/${owner_id}` })
  return readEnvironment(tx, scope)
}

/** Lists all organisations, oldest first. */
export async function listOrganisations(tx: Queries): Promise<StaffOrganisation[]> {
  const organisations = await tx
    .selectFrom('organisations')
    .selectAll()
    .orderBy('created_at')
    .orderBy('owner_id')
    .execute()
  const tenants = await tx
    .selectFrom('tenants')
    .select(['owner_id', 'environment', 'tenant_id'])
    .orderBy('environment')
    .execute()
  const byOwner = Map.groupBy(tenants, ({ owner_id }) => owner_id)
  return organisations.map(({ owner_id, name, created_at }) => {
    const own = byOwner.get(owner_id) ?? []
    return {
      owner_id,
      name,
      created_at,
      environments: own.map(({ environment, tenant_id }) => ({ environment, tenant_id })),
    }
  })
}

/**
 * The environment with this id; null: the only production environment. Throws `environment_not_found` with the list of environments,
 * also when there is no production environment or more than one.
 */
export async function staffScope(tx: Queries, tenantId: string | null): Promise<Scope> {
  const known = tx.selectFrom('tenants').select(['owner_id', 'environment', 'tenant_id', 'name'])
  if (tenantId !== null) {
    const found = UUID.test(tenantId) ? await known.where('tenant_id', '=', tenantId).executeTakeFirst() : undefined
    if (found !== undefined) return scopeOf(found)
  }
  const there = await known
    .where('environment', 'in', tenantId === null ? ['production'] : ['production', 'sandbox'])
    .orderBy('created_at')
    .limit(MAX_NAMED)
    .execute()
  const [only] = there
  if (tenantId === null && only !== undefined && there.length === 1) return scopeOf(only)
  const names = there.map(
    ({ tenant_id, environment, name }) => `\n  ${tenant_id}  ${environment} of ${JSON.stringify(name)}`,
  )
  const why =
    tenantId !== null
      ? `there is no environment ${tenantId}`
      : there.length === 0
        ? 'there is no environment'
        : 'there are several environments'
  throw new StoreError('environment_not_found', `${why}${names.length === 0 ? '' : `; there are:${names.join('')}`}`)
}

export async function readEnvironment(tx: Queries, scope: Scope): Promise<StaffEnvironment> {
  const { rate_per_second, rate_burst, ...row } = await selectEnvironments(tx)
    .where('tenant_id', '=', scope.tenant_id)
    .executeTakeFirstOrThrow()
  const isSet = rate_per_second !== null && rate_burst !== null
  return { ...row, rate_limit: isSet ? { per_second: rate_per_second, burst: rate_burst } : null }
}

/** A change of one setting of an environment. */
export type StaffSetting =
  | { readonly set: 'capacity'; readonly value: number }
  | { readonly set: 'admission'; readonly value: boolean }
  | { readonly set: 'rate_limit'; readonly value: { readonly per_second: number; readonly burst: number } | null }
  | { readonly set: 'destinations'; readonly value: Destinations | null }

/** Changes a setting. Live runs continue, whatever is lowered or switched off. */
export async function setEnvironment(tx: Queries, scope: Scope, setting: StaffSetting): Promise<StaffEnvironment> {
  await tx.updateTable('tenants').set(columnsOf(setting)).where('tenant_id', '=', scope.tenant_id).execute()
  await audit(tx, scope, `staff.set_${setting.set}`, { kind: 'operation', id: `environments/${scope.tenant_id}` })
  return readEnvironment(tx, scope)
}

function columnsOf(setting: StaffSetting) {
  switch (setting.set) {
    case 'capacity':
      return { concurrent_capacity: setting.value }
    case 'admission':
      return { admission_enabled: setting.value }
    case 'rate_limit':
      return { rate_per_second: setting.value?.per_second ?? null, rate_burst: setting.value?.burst ?? null }
    case 'destinations':
      return { destinations: setting.value === null ? null : JSON.stringify(setting.value) }
  }
}

/** The details of a trunk to change; null: back to the default. */
export type TrunkChanges = { readonly [Name in keyof TrunkDetails]: TrunkDetails[Name] | null }

/** Changes details of a trunk and returns them all. Throws `trunk_not_found` with the list of trunks. */
export async function setTrunkDetails(
  tx: Queries,
  scope: Scope,
  trunkId: string,
  changes: TrunkChanges,
): Promise<TrunkDetails> {
  const before = await readTrunkDetails(tx, scope, trunkId)
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null)
  const details: TrunkDetails = Object.fromEntries(merged)
  await tx
    .updateTable('trunks')
    .set({ details: JSON.stringify(details), updated_at: statementTime })
    .where('tenant_id', '=', scope.tenant_id)
    .where('trunk_id', '=', trunkId)
    .execute()
  await audit(tx, scope, 'staff.set_trunk', { kind: 'trunk', id: trunkId })
  return details
}

/** The details that staff set, without those of the profile; locks the trunk. Throws `trunk_not_found` with the list of trunks. */
export async function readTrunkDetails(tx: Queries, scope: Scope, trunkId: string): Promise<TrunkDetails> {
  const ofTenant = tx.selectFrom('trunks').where('tenant_id', '=', scope.tenant_id)
  const trunk = await ofTenant.select('details').where('trunk_id', '=', trunkId).forUpdate().executeTakeFirst()
  if (trunk !== undefined) return trunk.details
  const others = await ofTenant.select('trunk_id').orderBy('trunk_id').limit(MAX_NAMED).execute()
  const named = others.length === 0 ? 'it has none' : `it has ${others.map(({ trunk_id }) => trunk_id).join(', ')}`
  throw new StoreError('trunk_not_found', `the environment has no trunk ${JSON.stringify(trunkId)}; ${named}`)
}

/** A number whose claim staff confirmed. */
interface ConfirmedNumber {
  readonly tenant_id: string
  readonly number_id: string
  readonly phone_number: string
  readonly trunk_id: string
  readonly inbound: 'address'
}

/**
 * Confirms the claim of an environment to its number: calls without a token, from an address of its trunk, reach it. One environment
 * has the confirmed claim to a phone number; `move` takes it from another. Throws `number_not_found`, `number_claimed`.
 */
export async function confirmNumber(tx: Queries, numberId: string, move: boolean): Promise<ConfirmedNumber> {
  const numbers = () => tx.selectFrom('numbers').innerJoin('tenants', 'tenants.tenant_id', 'numbers.tenant_id')
  const columns = ['owner_id', 'environment', 'numbers.tenant_id', 'number_id', 'phone_number', 'trunk_id'] as const
  const found = UUID.test(numberId)
    ? await numbers().select(columns).where('number_id', '=', numberId).executeTakeFirst()
    : undefined
  if (found === undefined)
    throw new StoreError('number_not_found', `no environment has a number with the id ${JSON.stringify(numberId)}`)
  const { phone_number } = found
  // Locks all claims to the phone number, always in the same order: concurrent confirmations wait for each other without a deadlock.
  await tx
    .selectFrom('numbers')
    .select('number_id')
    .where('phone_number', '=', phone_number)
    .orderBy('number_id')
    .forUpdate()
    .execute()
  const holder = await numbers()
    .select(columns)
    .where('phone_number', '=', phone_number)
    .where('confirmed_at', 'is not', null)
    .where('number_id', '!=', numberId)
    .executeTakeFirst()
  if (holder !== undefined && !move)
    throw new StoreError(
      'number_claimed',
      `the claim of the environment ${holder.tenant_id} to ${phone_number} is confirmed; --move takes the number from it`,
    )
  if (holder !== undefined) {
    await tx.updateTable('numbers').set({ confirmed_at: null }).where('number_id', '=', holder.number_id).execute()
    await audit(tx, scopeOf(holder), 'staff.unconfirm_number', { kind: 'phone_number', id: holder.number_id })
  }
  await tx
    .updateTable('numbers')
    .set({ confirmed_at: sql<string>`coalesce(confirmed_at, ${statementTime})` })
    .where('number_id', '=', numberId)
    .execute()
  await audit(tx, scopeOf(found), 'staff.confirm_number', { kind: 'phone_number', id: numberId })
  const { tenant_id, number_id, trunk_id } = found
  return { tenant_id, number_id, phone_number, trunk_id, inbound: 'address' }
}

/** Makes all agents of the environment forget the earlier calls with this number (E.164). */
export async function forgetNumber(
  tx: Queries,
  scope: Scope,
  phoneNumber: string,
): Promise<{ readonly tenant_id: string; readonly phone_number: string; readonly forgotten_at: string }> {
  const { tenant_id } = scope
  const { rows } = await sql<{ forgotten_at: string }>`
    insert into parley.forgotten_numbers (tenant_id, phone_number, forgotten_at)
    values (${tenant_id}::uuid, ${phoneNumber}, ${statementTime})
    on conflict (tenant_id, phone_number) do update set forgotten_at = excluded.forgotten_at
    returning forgotten_at`.execute(tx)
  await audit(tx, scope, 'staff.forget_number', { kind: 'operation', id: 'forgotten-numbers' })
  return { tenant_id, phone_number: phoneNumber, forgotten_at: rows[0]!.forgotten_at }
}

/** A key with its secret, which is not shown again. Throws `limit_reached`. */
export async function createStaffKey(
  tx: Queries,
  scope: Scope,
  key: { readonly name: string; readonly role: Role; readonly can_dial: boolean },
  random: Random,
): Promise<KeyRow & { readonly secret: string }> {
  const secret = newKeySecret(scope.environment, random)
  const made = await insertKey(tx, scope, { ...key, expires_at: null }, secret)
  if (made === null)
    throw new StoreError('limit_reached', 'the environment has the maximum number of active keys: revoke one')
  await audit(tx, scope, 'staff.create_key', { kind: 'operation', id: `keys/${made.key_id}` })
  return { ...made, secret: secret.secret }
}

/** Writes an audit entry in every environment: its secrets are sealed under another master key. */
export async function auditMasterKeyRotation(tx: Queries): Promise<void> {
  const tenants = await tx.selectFrom('tenants').select(['owner_id', 'environment', 'tenant_id']).execute()
  for (const tenant of tenants) await audit(tx, scopeOf(tenant), 'staff.rotate_master_key', null)
}

function scopeOf({ owner_id, environment, tenant_id }: Scope): Scope {
  return { owner_id, environment, tenant_id }
}

/** The audit entry names no person: the operating system and the database know who logged in. */
async function audit(
  tx: Queries,
  scope: Scope,
  action: string,
  resource: { readonly kind: string; readonly id: string } | null,
): Promise<void> {
  const { owner_id, environment } = scope
  const principal = { owner_id, environment, kind: 'system', id: 'staff' } as const
  await writeAudit(tx, scope, { principal, action, resource, outcome: 'allowed', request_id: null })
}
