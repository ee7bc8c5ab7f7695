import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { KeyRow, KeySecret } from './api-keys.ts'
import type { Queries } from './protocol.ts'

const ENVIRONMENT_COLUMNS = [
  'environment',
  'tenant_id',
  'name',
  'display_name',
  'admission_enabled',
  'concurrent_capacity',
  'created_at',
] as const

interface EnvironmentRow {
  readonly environment: 'production' | 'sandbox'
  readonly tenant_id: string
  readonly name: string
  readonly display_name: string | null
  readonly admission_enabled: boolean
  readonly concurrent_capacity: number | null
  readonly created_at: string
}

/** The environments of the organisation: production, then the sandbox if there is one. */
export async function environmentsOf(db: Queries, scope: Scope): Promise<EnvironmentRow[]> {
  return db
    .selectFrom('tenants')
    .select(ENVIRONMENT_COLUMNS)
    .where('owner_id', '=', scope.owner_id)
    .orderBy('environment')
    .execute()
}

/**
 * Creates the organisation's sandbox with a first admin key for the secret, unless it exists; allowed from the production environment
 * only. Null: nothing was created.
 */
export async function makeSandbox(tx: Queries, keyName: string, secret: KeySecret): Promise<KeyRow | null> {
  const { rows } = await sql<{ key_id: string; created_at: string }>`
    select key_id, created_at from parley.make_sandbox(${keyName}, ${secret.prefix}, ${secret.hash})`.execute(tx)
  const [made] = rows
  if (made === undefined) return null
  const unset = { can_dial: false, last_used_at: null, expires_at: null, revoked_at: null }
  return { ...made, ...unset, name: keyName, role: 'admin', prefix: secret.prefix }
}

/** The name of the organisation. */
export async function organisationName(db: Queries, scope: Scope): Promise<string> {
  const { name } = await db
    .selectFrom('organisations')
    .select('name')
    .where('owner_id', '=', scope.owner_id)
    .executeTakeFirstOrThrow()
  return name
}

/** The most concurrent runs of this environment; null: staff has not set it. */
export async function concurrentCapacity(db: Queries, scope: Scope): Promise<number | null> {
  const { concurrent_capacity: capacity } = await db
    .selectFrom('tenants')
    .select('concurrent_capacity')
    .where('owner_id', '=', scope.owner_id)
    .where('tenant_id', '=', scope.tenant_id)
    .executeTakeFirstOrThrow()
  return capacity
}
