import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries, Sealer } from '../protocol.ts'
import type { AlertDestinationKind } from './protocol.ts'
import { cancelDeliveries } from './rules.ts'

type StoredKind = Exclude<AlertDestinationKind, 'webhook'>

interface AlertDestination {
  /** Null: it was never set. */
  readonly revision: string | null
  readonly configured: boolean
}

type AlertDestinations = Readonly<Record<StoredKind, AlertDestination>>

const NEVER_SET: AlertDestination = { revision: null, configured: false }

export async function readAlertDestinations(db: Queries, scope: Scope): Promise<AlertDestinations> {
  const { rows } = await sql<AlertDestination & { kind: StoredKind }>`
    select kind, revision, sealed is not null as configured from parley.alert_destinations
    where tenant_id = ${scope.tenant_id}::uuid`.execute(db)
  const of = (kind: StoredKind): AlertDestination => {
    const row = rows.find(other => other.kind === kind)
    return row === undefined ? NEVER_SET : { revision: row.revision, configured: row.configured }
  }
  return { chat: of('chat'), paging: of('paging') }
}

/** The context under which a destination's URL or routing key is sealed. */
export function alertDestinationSealContext(scope: Pick<Scope, 'tenant_id'>, kind: string): string {
  return JSON.stringify(['alert_destinations', scope.tenant_id, kind])
}

/**
 * Sets a destination whose revision is `expected`, or clears it with a null value, which also cancels the notifications that wait
 * for it. `stale`: it has another revision.
 */
export async function writeAlertDestination(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  {
    kind,
    expected,
    value,
  }: { readonly kind: StoredKind; readonly expected: string | null; readonly value: string | null },
): Promise<'written' | 'stale'> {
  const sealed = value === null ? null : sealer.seal(Buffer.from(value), alertDestinationSealContext(scope, kind))
  const { numAffectedRows } =
    expected === null
      ? await sql`
          insert into parley.alert_destinations (tenant_id, kind, sealed)
          values (${scope.tenant_id}::uuid, ${kind}::text, ${sealed}::bytea) on conflict do nothing`.execute(tx)
      : await sql`
          update parley.alert_destinations set sealed = ${sealed}::bytea, revision = parley.uuidv7(), updated_at = parley.now_ms()
          where tenant_id = ${scope.tenant_id}::uuid and kind = ${kind}::text and revision = ${expected}::uuid`.execute(
          tx,
        )
  if (numAffectedRows !== 1n) return 'stale'
  if (value === null)
    await cancelDeliveries(tx, scope, sql`d.destination_kind = ${kind}::text`, 'destination_unavailable')
  return 'written'
}
