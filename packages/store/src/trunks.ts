import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from './environment-limits.ts'
import { type KeysetColumn, type Page, type PageRequest, readPage } from './keyset.ts'
import type { Queries } from './protocol.ts'
import type { TrunksTable } from './schema.ts'
import { statementTime } from './statements.ts'
import { dropTombstone } from './tombstones.ts'

const TRUNK_COLUMNS = [
  'trunk_id',
  'name',
  'provider',
  'termination_uri',
  'auth_username',
  'auth_secret_id',
  'auth_secret_version',
  'inbound',
  'inbound_token',
  'created_at',
  'updated_at',
] as const

/** The settings of a trunk, which are always written together. */
export interface TrunkSettings {
  readonly name: string
  readonly termination_uri: string
  /** This and the next two: digest authentication of calls; null: none. */
  readonly auth_username: string | null
  readonly auth_secret_id: string | null
  readonly auth_secret_version: string | null
  readonly inbound: boolean
  /** The user of the inbound SIP URI; null: inbound is off. */
  readonly inbound_token: string | null
}

export interface TrunkRow extends TrunkSettings {
  readonly trunk_id: string
  readonly provider: TrunksTable['provider']
  readonly created_at: string
  readonly updated_at: string
}

export type NewTrunk = Omit<TrunkRow, 'created_at' | 'updated_at'>

function selectTrunks(db: Queries, scope: Scope) {
  return db.selectFrom('trunks').select(TRUNK_COLUMNS).where('tenant_id', '=', scope.tenant_id)
}

const BY_ID: readonly KeysetColumn<TrunkRow>[] = [{ column: 'trunk_id', type: 'text', direction: 'asc' }]

/** Lists trunks by id, ascending. Throws the refusal `invalid_cursor`. */
export function listTrunks(db: Queries, scope: Scope, page: PageRequest): Promise<Page<TrunkRow>> {
  const binding = { operation: 'trunks.list', tenantId: scope.tenant_id, filters: {}, sort: 'trunk_id' }
  return readPage(selectTrunks(db, scope), BY_ID, binding, page)
}

export async function trunkOf(db: Queries, scope: Scope, trunkId: string): Promise<TrunkRow | null> {
  return (await selectTrunks(db, scope).where('trunk_id', '=', trunkId).executeTakeFirst()) ?? null
}

/** As {@link trunkOf}, and locks it against writes and new numbers until the transaction ends. */
export async function lockedTrunk(tx: Queries, scope: Scope, trunkId: string): Promise<TrunkRow | null> {
  return (await selectTrunks(tx, scope).where('trunk_id', '=', trunkId).forUpdate().executeTakeFirst()) ?? null
}

/** Creates a trunk; `trunk_exists` is checked before `limit_reached`. */
export async function insertTrunk(
  tx: Queries,
  scope: Scope,
  trunk: NewTrunk,
): Promise<TrunkRow | 'trunk_exists' | 'limit_reached'> {
  await takeTurn(tx, scope, 'trunks')
  if ((await trunkOf(tx, scope, trunk.trunk_id)) !== null) return 'trunk_exists'
  const { count } = await tx
    .selectFrom('trunks')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('tenant_id', '=', scope.tenant_id)
    .executeTakeFirstOrThrow()
  if (count >= ENVIRONMENT_LIMITS.trunks) return 'limit_reached'
  const made = await tx
    .insertInto('trunks')
    .values({ ...trunk, tenant_id: scope.tenant_id, created_at: statementTime, updated_at: statementTime })
    .returning(TRUNK_COLUMNS)
    .executeTakeFirstOrThrow()
  await dropTombstone(tx, scope, 'trunk', trunk.trunk_id)
  return made
}

/** Writes the settings of a trunk that this transaction holds locked. */
export async function writeTrunk(
  tx: Queries,
  scope: Scope,
  trunkId: string,
  settings: TrunkSettings,
): Promise<TrunkRow> {
  return tx
    .updateTable('trunks')
    .set({ ...settings, updated_at: statementTime })
    .where('tenant_id', '=', scope.tenant_id)
    .where('trunk_id', '=', trunkId)
    .returning(TRUNK_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** The phone numbers on a trunk, ascending, `atMost` of them. */
export async function numbersOn(db: Queries, scope: Scope, trunkId: string, atMost: number): Promise<string[]> {
  const numbers = await db
    .selectFrom('numbers')
    .select('phone_number')
    .where('tenant_id', '=', scope.tenant_id)
    .where('trunk_id', '=', trunkId)
    .orderBy('phone_number')
    .limit(atMost)
    .execute()
  return numbers.map(number => number.phone_number)
}

/** Deletes a trunk that this transaction holds locked, and that has no numbers. */
export async function deleteTrunk(tx: Queries, scope: Scope, trunkId: string): Promise<void> {
  await tx.deleteFrom('trunks').where('tenant_id', '=', scope.tenant_id).where('trunk_id', '=', trunkId).execute()
}
