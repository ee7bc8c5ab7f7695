import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from './environment-limits.ts'
import { type KeysetColumn, type Page, type PageRequest, readPage } from './keyset.ts'
import type { Queries, Sealer } from './protocol.ts'
import { type SecretReference, secretReferences } from './references.ts'
import type { SecretKind } from './schema.ts'
import { statementTime } from './statements.ts'
import { dropTombstone } from './tombstones.ts'

/** A secret without its values. */
export interface SecretRow {
  readonly secret_id: string
  readonly kind: SecretKind
  /** The current version. */
  readonly version: number
  /** All existing versions, ascending, with the time at which each was added. */
  readonly versions: number[]
  readonly version_times: string[]
  readonly created_at: string
  readonly updated_at: string
}

/** The context under which a secret is sealed: it cannot be opened under another. */
export function secretSealContext(scope: Scope, secretId: string, version: number): string {
  return JSON.stringify(['secret_versions', scope.tenant_id, secretId, version])
}

/** Secrets that are not deleted, with their versions. */
function selectSecrets(db: Queries, scope: Scope) {
  return db
    .selectFrom('secrets as s')
    .select(['s.secret_id', 's.kind', 's.version', 's.created_at', 's.updated_at'])
    .select([
      sql<number[]>`array(select v.version from parley.secret_versions v
        where v.tenant_id = s.tenant_id and v.secret_id = s.secret_id order by v.version)`.as('versions'),
      sql<string[]>`array(select v.created_at from parley.secret_versions v
        where v.tenant_id = s.tenant_id and v.secret_id = s.secret_id order by v.version)`.as('version_times'),
    ])
    .where('s.tenant_id', '=', scope.tenant_id)
    .where('s.deleted_at', 'is', null)
}

const BY_ID: readonly KeysetColumn<SecretRow>[] = [{ column: 'secret_id', type: 'text', direction: 'asc' }]

/** Lists secrets by id, ascending. Throws the refusal `invalid_cursor`. */
export function listSecrets(db: Queries, scope: Scope, page: PageRequest): Promise<Page<SecretRow>> {
  const binding = { operation: 'secrets.list', tenantId: scope.tenant_id, filters: {}, sort: 'secret_id' }
  return readPage(selectSecrets(db, scope), BY_ID, binding, page)
}

async function secretOf(db: Queries, scope: Scope, secretId: string): Promise<SecretRow> {
  return selectSecrets(db, scope).where('s.secret_id', '=', secretId).executeTakeFirstOrThrow()
}

/**
 * Creates the secret, or adds a version; its current value adds none. Versions only rise, also after the secret was deleted.
 * `kind_mismatch`: the secret exists with another kind.
 */
export async function putSecret(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  secret: { readonly secret_id: string; readonly kind: SecretKind; readonly value: string },
): Promise<SecretRow | 'kind_mismatch' | 'limit_reached'> {
  const { secret_id: id, kind } = secret
  await takeTurn(tx, scope, 'secrets')
  const before = await lockedSecret(tx, scope, id)
  const lives = before !== undefined && before.deleted_at === null
  if (lives && before.kind !== kind) return 'kind_mismatch'
  if (!lives && (await countSecrets(tx, scope)) >= ENVIRONMENT_LIMITS.secrets) return 'limit_reached'
  const value = Buffer.from(secret.value)
  if (lives && (await isCurrentValue(tx, scope, sealer, id, before.version, value))) return secretOf(tx, scope, id)

  const version = (before?.version ?? 0) + 1
  await tx
    .insertInto('secrets')
    .values({
      tenant_id: scope.tenant_id,
      secret_id: id,
      kind,
      version,
      created_at: statementTime,
      updated_at: statementTime,
    })
    .onConflict(conflict =>
      conflict.columns(['tenant_id', 'secret_id']).doUpdateSet({
        kind,
        version,
        updated_at: statementTime,
        deleted_at: null,
        ...(!lives && { created_at: statementTime }),
      }),
    )
    .execute()
  const sealed = sealer.seal(value, secretSealContext(scope, id, version))
  await tx
    .insertInto('secret_versions')
    .values({ tenant_id: scope.tenant_id, secret_id: id, version, sealed })
    .execute()
  if (before !== undefined && !lives) await dropTombstone(tx, scope, 'secret', id)
  return secretOf(tx, scope, id)
}

async function lockedSecret(tx: Queries, scope: Scope, secretId: string) {
  return tx
    .selectFrom('secrets')
    .select(['kind', 'version', 'deleted_at'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('secret_id', '=', secretId)
    .forUpdate()
    .executeTakeFirst()
}

async function countSecrets(tx: Queries, scope: Scope): Promise<number> {
  const { count } = await tx
    .selectFrom('secrets')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('tenant_id', '=', scope.tenant_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

async function isCurrentValue(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  secretId: string,
  version: number,
  value: Buffer,
): Promise<boolean> {
  const { sealed } = await tx
    .selectFrom('secret_versions')
    .select('sealed')
    .where('tenant_id', '=', scope.tenant_id)
    .where('secret_id', '=', secretId)
    .where('version', '=', version)
    .executeTakeFirstOrThrow()
  return sealer.open(sealed, secretSealContext(scope, secretId, version)).equals(value)
}

/**
 * Deletes the secret with all its versions and returns its last state. While a resource pins an existing version, it is deleted
 * only by `force`; otherwise the result is the list of these resources. Null: there is no such secret.
 */
export async function deleteSecret(
  tx: Queries,
  scope: Scope,
  secretId: string,
  force: boolean,
): Promise<SecretRow | { readonly references: readonly SecretReference[] } | null> {
  const locked = await lockedSecret(tx, scope, secretId)
  if (locked === undefined || locked.deleted_at !== null) return null
  const secret = await secretOf(tx, scope, secretId)
  if (!force) {
    const references = await secretReferences(tx, scope, secretId, secret.versions.map(String))
    if (references.length > 0) return { references }
  }
  await tx
    .deleteFrom('secret_versions')
    .where('tenant_id', '=', scope.tenant_id)
    .where('secret_id', '=', secretId)
    .execute()
  await tx
    .updateTable('secrets')
    .set({ deleted_at: statementTime })
    .where('tenant_id', '=', scope.tenant_id)
    .where('secret_id', '=', secretId)
    .execute()
  return secret
}

/** The kind of a pinned secret, and whether the pinned version exists. */
interface PinnedSecret {
  readonly kind: SecretKind
  readonly has_version: boolean
}

/**
 * Reads a secret that is about to be pinned, and locks it against deletion until the transaction ends. Null: there is no such
 * secret.
 */
export async function lockPinnedSecret(
  tx: Queries,
  scope: Scope,
  pin: { readonly id: string; readonly version: string },
): Promise<PinnedSecret | null> {
  const found = await tx
    .selectFrom('secrets as s')
    .select([
      's.kind',
      sql<boolean>`exists (select from parley.secret_versions v where v.tenant_id = s.tenant_id
        and v.secret_id = s.secret_id and v.version::text = ${pin.version})`.as('has_version'),
    ])
    .where('s.tenant_id', '=', scope.tenant_id)
    .where('s.secret_id', '=', pin.id)
    .where('s.deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst()
  return found ?? null
}
