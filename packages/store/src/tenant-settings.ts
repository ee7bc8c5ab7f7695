import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'

const SETTINGS_COLUMNS = [
  'name',
  'display_name',
  'recording_days',
  'transcript_days',
  'document_days',
  'retention_version',
  'listening_enabled',
] as const

export interface TenantSettingsRow {
  readonly name: string
  readonly display_name: string | null
  readonly recording_days: number
  readonly transcript_days: number
  /** Null: documents are kept. */
  readonly document_days: number | null
  /** 0: the platform's default was never changed. */
  readonly retention_version: number
  /** Whether members may listen to live calls. */
  readonly listening_enabled: boolean
}

interface Retention {
  readonly recording_days: number
  readonly transcript_days: number
  readonly document_days: number | null
  readonly expected_version: number
}

export async function tenantSettings(db: Queries, scope: Scope): Promise<TenantSettingsRow> {
  return db
    .selectFrom('tenants')
    .select(SETTINGS_COLUMNS)
    .where('owner_id', '=', scope.owner_id)
    .where('tenant_id', '=', scope.tenant_id)
    .executeTakeFirstOrThrow()
}

/** Writes the given settings, all or none. Null: `retention.expected_version` is not the current version. */
export async function writeTenantSettings(
  tx: Queries,
  scope: Scope,
  changes: {
    readonly display_name?: string | null
    readonly listening_enabled?: boolean
    readonly retention?: Retention
  },
): Promise<TenantSettingsRow | null> {
  const { display_name, listening_enabled, retention } = changes
  if (display_name === undefined && listening_enabled === undefined && retention === undefined)
    return tenantSettings(tx, scope)
  let update = tx
    .updateTable('tenants')
    .set({
      ...(display_name !== undefined && { display_name }),
      ...(listening_enabled !== undefined && { listening_enabled }),
      ...(retention !== undefined && {
        recording_days: retention.recording_days,
        transcript_days: retention.transcript_days,
        document_days: retention.document_days,
        retention_version: sql<number>`retention_version + 1`,
      }),
    })
    .where('owner_id', '=', scope.owner_id)
    .where('tenant_id', '=', scope.tenant_id)
  // Compared as bigint, because the expected version may be any integer and the column has 32 bits.
  if (retention !== undefined) update = update.where(sql`retention_version::bigint`, '=', retention.expected_version)
  return (await update.returning(SETTINGS_COLUMNS).executeTakeFirst()) ?? null
}
