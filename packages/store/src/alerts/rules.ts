import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from '../environment-limits.ts'
import type { Queries, Sealer } from '../protocol.ts'
import { ALERT_SIGNING_SECRET, type AlertDestinationKind, type AlertRuleRow } from './protocol.ts'
import { selectRules } from './rule-rows.ts'

/** A destination as a request names it. */
export type AlertDestinationValue =
  | { readonly kind: 'chat' | 'paging' }
  | { readonly kind: 'webhook'; readonly url: string }

interface AlertRuleFields {
  readonly metric: string
  readonly threshold: string
  readonly enabled: boolean
}

type DestinationFault = 'destination_not_configured' | 'signing_secret_missing'

/** Rules of the environment that are not deleted, newest first. */
export function listAlertRules(db: Queries, scope: Scope): Promise<AlertRuleRow[]> {
  return selectRules(db, scope, null)
}

/** The rule, deleted or not; null: there was never one with this id. */
export async function readAlertRule(db: Queries, scope: Scope, alertId: string): Promise<AlertRuleRow | null> {
  return (await selectRules(db, scope, alertId))[0] ?? null
}

/** The context under which a rule's webhook URL is sealed. */
export function alertUrlSealContext(scope: Pick<Scope, 'tenant_id'>, alertId: string): string {
  return JSON.stringify(['alert_rules', scope.tenant_id, alertId])
}

/** What a rule stores of its destination. */
interface StoredDestination {
  readonly kind: AlertDestinationKind
  readonly sealed: Buffer | null
  readonly secretVersion: number | null
}

/** Stores a rule, due at once. */
export async function insertAlertRule(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  { metric, threshold, enabled, destination }: AlertRuleFields & { readonly destination: AlertDestinationValue },
): Promise<AlertRuleRow | DestinationFault | 'limit_reached'> {
  await takeTurn(tx, scope, 'alert_rules')
  const { rows: counted } = await sql<{ count: number; alert_id: string }>`
    select count(*)::integer as count, parley.uuidv7() as alert_id from parley.alert_rules
    where tenant_id = ${scope.tenant_id}::uuid and deleted_at is null`.execute(tx)
  const { count, alert_id: alertId } = counted[0]!
  if (count >= ENVIRONMENT_LIMITS.alert_rules) return 'limit_reached'
  const stored = await storedDestination(tx, scope, sealer, alertId, destination)
  if (typeof stored === 'string') return stored
  await sql`
    insert into parley.alert_rules (
      tenant_id, alert_id, metric, threshold, enabled, destination_kind, destination_sealed, destination_revision, secret_version
    ) values (
      ${scope.tenant_id}::uuid, ${alertId}::uuid, ${metric}::text, ${threshold}::text, ${enabled}::boolean, ${stored.kind}::text,
      ${stored.sealed}::bytea, ${stored.kind === 'webhook' ? sql`parley.uuidv7()` : sql`null`}, ${stored.secretVersion}::integer
    )`.execute(tx)
  return (await readAlertRule(tx, scope, alertId))!
}

/**
 * Changes a rule of this revision: its next evaluation is a first one, due at once, and it may fire again. A notification that is
 * not being sent at this moment is cancelled. `destination` null: the same as before. `stale`: it has another revision.
 */
export async function updateAlertRule(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  change: AlertRuleFields & {
    readonly alertId: string
    readonly expectedRevision: number
    readonly destination: AlertDestinationValue | null
  },
): Promise<AlertRuleRow | DestinationFault | 'stale' | null> {
  const { alertId, metric, threshold, enabled, destination } = change
  const locked = await lockRule(tx, scope, alertId)
  if (locked === null || locked.deleted) return null
  if (locked.revision !== change.expectedRevision) return 'stale'
  const stored = destination === null ? null : await storedDestination(tx, scope, sealer, alertId, destination)
  if (typeof stored === 'string') return stored
  await sql`
    update parley.alert_rules set revision = revision + 1, metric = ${metric}::text, threshold = ${threshold}::text,
      enabled = ${enabled}::boolean, armed = true, evaluation_status = 'pending', evaluation_reason = null, evaluated_at = null,
      window_from = null, window_to = null, value = null, evidence = null, next_evaluation_at = parley.now_ms(),
      updated_at = parley.now_ms()
      ${
        stored === null
          ? sql``
          : sql`, destination_kind = ${stored.kind}::text, destination_sealed = ${stored.sealed}::bytea,
              destination_revision = ${stored.kind === 'webhook' ? sql`parley.uuidv7()` : sql`null`},
              secret_version = ${stored.secretVersion}::integer`
      }
    where tenant_id = ${scope.tenant_id}::uuid and alert_id = ${alertId}::uuid`.execute(tx)
  await cancelDeliveries(tx, scope, sql`d.alert_id = ${alertId}::uuid`, enabled ? 'rule_changed' : 'rule_disabled')
  return readAlertRule(tx, scope, alertId)
}

/**
 * Deletes a rule of this revision and cancels its notification that is not being sent at this moment. A rule that was deleted
 * before is returned as it is.
 */
export async function deleteAlertRule(
  tx: Queries,
  scope: Scope,
  alertId: string,
  expectedRevision: number,
): Promise<AlertRuleRow | 'stale' | null> {
  const locked = await lockRule(tx, scope, alertId)
  if (locked === null) return null
  if (!locked.deleted) {
    if (locked.revision !== expectedRevision) return 'stale'
    await sql`
      update parley.alert_rules set deleted_at = parley.now_ms(), updated_at = parley.now_ms()
      where tenant_id = ${scope.tenant_id}::uuid and alert_id = ${alertId}::uuid`.execute(tx)
    await cancelDeliveries(tx, scope, sql`d.alert_id = ${alertId}::uuid`, 'rule_deleted')
  }
  return readAlertRule(tx, scope, alertId)
}

/**
 * Acknowledges the uncertain delivery of a rule of this revision; again: nothing happens. `not_uncertain`: the rule has no
 * uncertain delivery with this id.
 */
export async function acknowledgeDelivery(
  tx: Queries,
  scope: Scope,
  alertId: string,
  expectedRevision: number,
  deliveryId: string,
): Promise<AlertRuleRow | 'stale' | 'not_uncertain' | null> {
  const locked = await lockRule(tx, scope, alertId)
  if (locked === null || locked.deleted) return null
  if (locked.revision !== expectedRevision) return 'stale'
  const { numAffectedRows } = await sql`
    update parley.alert_deliveries set acknowledged_at = coalesce(acknowledged_at, parley.now_ms())
    where tenant_id = ${scope.tenant_id}::uuid and alert_id = ${alertId}::uuid and delivery_id = ${deliveryId}::uuid
      and status = 'uncertain'`.execute(tx)
  return numAffectedRows === 1n ? readAlertRule(tx, scope, alertId) : 'not_uncertain'
}

async function lockRule(tx: Queries, scope: Scope, alertId: string) {
  const { rows } = await sql<{ revision: number; deleted: boolean }>`
    select revision, deleted_at is not null as deleted from parley.alert_rules
    where tenant_id = ${scope.tenant_id}::uuid and alert_id = ${alertId}::uuid for update`.execute(tx)
  return rows[0] ?? null
}

/** Cancels deliveries of which no request is under way. */
export async function cancelDeliveries(
  tx: Queries,
  scope: Scope,
  which: ReturnType<typeof sql>,
  errorCode: string,
): Promise<void> {
  await sql`
    update parley.alert_deliveries d set status = 'cancelled', finished_at = parley.now_ms(), error_code = ${errorCode}::text,
      lease_until = null
    where d.tenant_id = ${scope.tenant_id}::uuid and d.status in ('pending', 'sending') and not d.in_flight and ${which}`.execute(
    tx,
  )
}

async function storedDestination(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  alertId: string,
  value: AlertDestinationValue,
): Promise<StoredDestination | DestinationFault> {
  if (value.kind !== 'webhook') {
    const { rows } = await sql`
      select from parley.alert_destinations
      where tenant_id = ${scope.tenant_id}::uuid and kind = ${value.kind}::text and sealed is not null for share`.execute(
      tx,
    )
    return rows.length === 0 ? 'destination_not_configured' : { kind: value.kind, sealed: null, secretVersion: null }
  }
  const { rows } = await sql<{ version: number }>`
    select version from parley.secrets
    where tenant_id = ${scope.tenant_id}::uuid and secret_id = ${ALERT_SIGNING_SECRET} and kind = 'webhook_signing'
      and deleted_at is null for share`.execute(tx)
  if (rows[0] === undefined) return 'signing_secret_missing'
  const sealed = sealer.seal(Buffer.from(value.url), alertUrlSealContext(scope, alertId))
  return { kind: 'webhook', sealed, secretVersion: rows[0].version }
}
