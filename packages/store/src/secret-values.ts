import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries, Sealer } from './protocol.ts'
import { secretSealContext } from './secrets.ts'

/** The values of a secret's pinned and current version. */
export interface SecretValues {
  /** Null: that version does not exist. */
  readonly pinned: string | null
  /** Null: the pinned version is the current one, or the secret was deleted. */
  readonly current: string | null
}

/** Both values of a pinned secret of any kind, decrypted. Throws `seal_broken`. */
export async function readSecretValues(
  db: Queries,
  scope: Scope,
  sealer: Sealer,
  pin: { readonly id: string; readonly version: string },
): Promise<SecretValues> {
  const { rows } = await sql<{ version: number; sealed: Buffer; is_pinned: boolean }>`
    select v.version, v.sealed, v.version::text = ${pin.version}::text as is_pinned
    from parley.secrets s join parley.secret_versions v using (tenant_id, secret_id)
    where s.tenant_id = ${scope.tenant_id}::uuid and s.secret_id = ${pin.id}::text and s.deleted_at is null
      and (v.version = s.version or v.version::text = ${pin.version}::text)`.execute(db)
  const inTheClear = (isPinned: boolean): string | null => {
    const row = rows.find(({ is_pinned }) => is_pinned === isPinned)
    if (row === undefined) return null
    return sealer.open(row.sealed, secretSealContext(scope, pin.id, row.version)).toString('utf8')
  }
  return { pinned: inTheClear(true), current: inTheClear(false) }
}
