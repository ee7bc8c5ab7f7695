import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries, Sealer } from '../protocol.ts'
import { readSecretValues } from '../secret-values.ts'
import { alertDestinationSealContext } from './destinations.ts'
import { ALERT_SIGNING_SECRET, type AlertDestinationKind } from './protocol.ts'
import { alertUrlSealContext } from './rules.ts'

/** A delivery that a worker took; it is the worker's until the lease ends. */
export interface TakenDelivery {
  readonly scope: Scope
  readonly delivery_id: string
  readonly alert_id: string
  readonly destination_kind: AlertDestinationKind
  /** Times that it was taken, this one included; also the fence of the worker that has it. */
  readonly attempts: number
  /** On the database's clock, ISO. */
  readonly taken_at: string
}

/**
 * Takes due deliveries of one environment, the longest due first. A delivery whose request was under way when its worker died is
 * never taken: it becomes `uncertain`.
 */
export async function takeAlertDeliveries(
  tx: Queries,
  scope: Scope,
  leaseMs: number,
  atMost: number,
): Promise<TakenDelivery[]> {
  await sql`
    update parley.alert_deliveries set status = 'uncertain', error_code = 'owner_lost', finished_at = parley.now_ms(),
      in_flight = false, lease_until = null
    where tenant_id = ${scope.tenant_id}::uuid and finished_at is null and in_flight and lease_until <= clock_timestamp()`.execute(
    tx,
  )
  const { rows } = await sql<Omit<TakenDelivery, 'scope'>>`
    with due as (
      select delivery_id from parley.alert_deliveries
      where tenant_id = ${scope.tenant_id}::uuid and finished_at is null and not in_flight and next_at <= statement_timestamp()
        and (lease_until is null or lease_until <= clock_timestamp())
      order by next_at limit ${atMost}::integer
      for no key update skip locked
    )
    update parley.alert_deliveries d
    set attempts = d.attempts + 1, lease_until = parley.now_ms() + ${leaseMs}::integer * interval '1 ms'
    from due where d.tenant_id = ${scope.tenant_id}::uuid and d.delivery_id = due.delivery_id
    returning d.delivery_id, d.alert_id, d.destination_kind, d.attempts, parley.now_ms() as taken_at`.execute(tx)
  return rows.map(row => ({ ...row, scope }))
}

/** Milliseconds until the environment's next delivery is due that no worker has, 0 if it is overdue; null: there is none. */
export async function nextAlertDeliveryDueInMs(db: Queries, scope: Scope): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number }>`
    select greatest(0, ceil(extract(epoch from next_at - clock_timestamp()) * 1000))::integer as in_ms
    from parley.alert_deliveries
    where tenant_id = ${scope.tenant_id}::uuid and finished_at is null and (lease_until is null or lease_until <= clock_timestamp())
    order by next_at limit 1`.execute(db)
  return rows[0]?.in_ms ?? null
}

/** Where a delivery goes now, decrypted. */
export interface AlertTarget {
  readonly revision: string
  /** The URL of the chat webhook or of the rule's webhook, or the routing key. */
  readonly value: string
  /** Secrets that sign it: the pinned version and, where that is another, the current one. Empty for chat and paging. */
  readonly secrets: readonly string[]
}

/** Null: the destination was cleared. `secret_missing`: the pinned signing secret was deleted. Throws `seal_broken`. */
export async function readAlertTarget(
  db: Queries,
  scope: Scope,
  sealer: Sealer,
  { alert_id, destination_kind: kind }: Pick<TakenDelivery, 'alert_id' | 'destination_kind'>,
): Promise<AlertTarget | 'secret_missing' | null> {
  if (kind !== 'webhook') {
    const { rows } = await sql<{ revision: string; sealed: Buffer }>`
      select revision::text as revision, sealed from parley.alert_destinations
      where tenant_id = ${scope.tenant_id}::uuid and kind = ${kind}::text and sealed is not null`.execute(db)
    const [found] = rows
    if (found === undefined) return null
    const value = sealer.open(found.sealed, alertDestinationSealContext(scope, kind)).toString('utf8')
    return { revision: found.revision, value, secrets: [] }
  }
  const { rows } = await sql<{ revision: string; sealed: Buffer; secret_version: number }>`
    select destination_revision::text as revision, destination_sealed as sealed, secret_version from parley.alert_rules
    where tenant_id = ${scope.tenant_id}::uuid and alert_id = ${alert_id}::uuid and destination_kind = 'webhook'`.execute(
    db,
  )
  const [found] = rows
  if (found === undefined) return null
  const pin = { id: ALERT_SIGNING_SECRET, version: String(found.secret_version) }
  const { pinned, current } = await readSecretValues(db, scope, sealer, pin)
  if (pinned === null) return 'secret_missing'
  const value = sealer.open(found.sealed, alertUrlSealContext(scope, alert_id)).toString('utf8')
  return { revision: found.revision, value, secrets: current === null ? [pinned] : [pinned, current] }
}

const heldBy = ({ scope, delivery_id, attempts }: TakenDelivery) =>
  sql`d.tenant_id = ${scope.tenant_id}::uuid and d.delivery_id = ${delivery_id}::uuid and d.attempts = ${attempts}::integer
    and d.finished_at is null`

/**
 * Stores that the request is about to be sent to this revision of its destination. Commit it before sending. False: the delivery was
 * cancelled, or another worker has it; then nothing may be sent.
 */
export async function intendAlertDelivery(tx: Queries, taken: TakenDelivery, revision: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update parley.alert_deliveries d set status = 'sending', in_flight = true, send_intent_at = ${taken.taken_at}::timestamptz,
      destination_revision = ${revision}::text, error_code = null
    where ${heldBy(taken)} and not d.in_flight and d.lease_until > clock_timestamp()`.execute(tx)
  return numAffectedRows === 1n
}

export type AlertDeliveryResult =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'cancelled' | 'uncertain'; readonly errorCode: string }
  /** Nothing was accepted: the delivery is due again. */
  | { readonly kind: 'again'; readonly inMs: number; readonly errorCode: string }

/**
 * Settles a delivery that the worker took. One that would be sent again is cancelled if its rule was changed, disabled or deleted
 * meanwhile. False: it was settled before, nothing changed.
 */
export async function settleAlertDelivery(
  tx: Queries,
  taken: TakenDelivery,
  result: AlertDeliveryResult,
): Promise<boolean> {
  const { scope, alert_id } = taken
  const errorCode = result.kind === 'delivered' ? null : result.errorCode
  // The order in which edits lock: the rule first.
  const { rows } = await sql<{ revision: number; active: boolean }>`
    select revision, enabled and deleted_at is null as active from parley.alert_rules
    where tenant_id = ${scope.tenant_id}::uuid and alert_id = ${alert_id}::uuid for no key update`.execute(tx)
  const rule = rows[0]!
  const { numAffectedRows } = await sql`
    update parley.alert_deliveries d set in_flight = false, lease_until = null,
      status = case
        when ${result.kind !== 'again'}::boolean then ${result.kind}::text
        when ${!rule.active}::boolean or d.rule_revision <> ${rule.revision}::integer then 'cancelled'
        else d.status end,
      finished_at = case
        when ${result.kind !== 'again'}::boolean or ${!rule.active}::boolean or d.rule_revision <> ${rule.revision}::integer
          then parley.now_ms() end,
      error_code = ${errorCode}::text,
      next_at = parley.now_ms() + ${result.kind === 'again' ? result.inMs : 0}::double precision * interval '1 ms'
    where ${heldBy(taken)}`.execute(tx)
  return numAffectedRows === 1n
}
