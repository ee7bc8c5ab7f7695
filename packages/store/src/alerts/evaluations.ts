import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries, Sealer } from '../protocol.ts'
import { ALERT_SIGNING_SECRET, type AlertEvaluation } from './protocol.ts'
import { isDestinationKind } from './rule-rows.ts'
import { alertUrlSealContext } from './rules.ts'

/** Rules are evaluated this often. */
export const ALERT_EVERY_MS = 60_000

/** A rule as its evaluation needs it. */
export interface EvaluatedRule {
  readonly alert_id: string
  readonly revision: number
  readonly metric: string
  readonly threshold: string
  readonly destination_kind: string
  /** Of the destination now; null: it is not configured, or this version does not know its kind. */
  readonly destination_revision: string | null
  /** False: the webhook's URL cannot be decrypted. */
  readonly is_readable: boolean
  readonly armed: boolean
}

/**
 * Takes at most `atMost` rules of an environment whose evaluation is due, and makes each due again after `everyMs`. The evaluation
 * of a process that dies is left out.
 */
export async function takeDueAlerts(tx: Queries, scope: Scope, everyMs: number, atMost: number): Promise<string[]> {
  const { rows } = await sql<{ alert_id: string }>`
    with due as (
      select alert_id from parley.alert_rules
      where tenant_id = ${scope.tenant_id}::uuid and enabled and deleted_at is null and next_evaluation_at <= statement_timestamp()
      order by next_evaluation_at limit ${atMost}::integer
      for no key update skip locked
    )
    update parley.alert_rules r
    -- In step with the last one, unless that was missed by more than a whole period.
    set next_evaluation_at = greatest(r.next_evaluation_at, parley.now_ms() - ${everyMs}::integer * interval '1 ms')
      + ${everyMs}::integer * interval '1 ms'
    from due where r.tenant_id = ${scope.tenant_id}::uuid and r.alert_id = due.alert_id
    returning r.alert_id`.execute(tx)
  return rows.map(({ alert_id }) => alert_id)
}

/** Milliseconds until the environment's next evaluation is due, 0 if it is overdue; null: it has no enabled rule. */
export async function nextAlertDueInMs(db: Queries, scope: Scope): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number }>`
    select greatest(0, ceil(extract(epoch from next_evaluation_at - clock_timestamp()) * 1000))::integer as in_ms
    from parley.alert_rules where tenant_id = ${scope.tenant_id}::uuid and enabled and deleted_at is null
    order by next_evaluation_at limit 1`.execute(db)
  return rows[0]?.in_ms ?? null
}

/** Locks rules for their evaluation until the end of the transaction; those that were disabled or deleted meanwhile are left out. */
export async function lockAlertRules(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  alertIds: readonly string[],
): Promise<EvaluatedRule[]> {
  const { rows } = await sql<Omit<EvaluatedRule, 'is_readable'> & { destination_sealed: Buffer | null }>`
    select r.alert_id, r.revision, r.metric, r.threshold, r.destination_kind, r.destination_sealed, r.armed,
      case r.destination_kind
        when 'webhook' then (
          select r.destination_revision::text from parley.secrets s
          join parley.secret_versions v using (tenant_id, secret_id)
          where s.tenant_id = r.tenant_id and s.secret_id = ${ALERT_SIGNING_SECRET} and s.deleted_at is null
            and v.version = r.secret_version
        )
        else (
          select d.revision::text from parley.alert_destinations d
          where d.tenant_id = r.tenant_id and d.kind = r.destination_kind and d.sealed is not null
        )
      end as destination_revision
    from parley.alert_rules r
    where r.tenant_id = ${scope.tenant_id}::uuid and r.alert_id = any (${alertIds}::uuid[]) and r.enabled
      and r.deleted_at is null
    order by r.alert_id for no key update of r`.execute(tx)
  return rows.map(({ destination_sealed, ...rule }) => ({
    ...rule,
    is_readable:
      !isDestinationKind(rule.destination_kind) ||
      rule.destination_kind !== 'webhook' ||
      isOpenable(sealer, destination_sealed, alertUrlSealContext(scope, rule.alert_id)),
  }))
}

function isOpenable(sealer: Sealer, sealed: Buffer | null, context: string): boolean {
  try {
    return sealed !== null && sealer.open(sealed, context).length > 0
  } catch {
    return false
  }
}

/** What follows from an evaluation: a value above the threshold fires, one at or below it arms the rule again. */
export type AlertVerdict = 'above' | 'at_or_below' | 'none'

/**
 * Stores the evaluation of a rule that the transaction locked. `above` makes a delivery if the rule is armed and has none that is
 * open. True: a delivery waits to be sent.
 */
export async function storeAlertEvaluation(
  tx: Queries,
  scope: Scope,
  rule: EvaluatedRule,
  evaluation: AlertEvaluation,
  verdict: AlertVerdict,
): Promise<boolean> {
  const { status, reason, evaluated_at, window, value, evidence } = evaluation
  const evidenceJson = evidence === null ? null : JSON.stringify(evidence)
  const mayFire = verdict === 'above' && rule.armed && window !== null && value !== null
  const { rows } = await sql`
    insert into parley.alert_deliveries (
      tenant_id, alert_id, rule_revision, destination_kind, destination_revision, value, threshold, window_from, window_to, evidence
    )
    select ${scope.tenant_id}::uuid, ${rule.alert_id}::uuid, ${rule.revision}::integer, ${rule.destination_kind}::text,
      ${rule.destination_revision}::text, ${value}::text, ${rule.threshold}::text, ${window?.from ?? null}::timestamptz,
      ${window?.to ?? null}::timestamptz, ${evidenceJson}::jsonb
    where ${mayFire}::boolean and not exists (
      select from parley.alert_deliveries d
      where d.tenant_id = ${scope.tenant_id}::uuid and d.alert_id = ${rule.alert_id}::uuid
        and (d.status in ('pending', 'sending') or (d.status = 'uncertain' and d.acknowledged_at is null))
    )
    returning delivery_id`.execute(tx)
  const hasFired = rows.length === 1
  await sql`
    update parley.alert_rules set evaluation_status = ${status}::text, evaluation_reason = ${reason}::text,
      evaluated_at = ${evaluated_at}::timestamptz, window_from = ${window?.from ?? null}::timestamptz,
      window_to = ${window?.to ?? null}::timestamptz, value = ${value}::text, evidence = ${evidenceJson}::jsonb,
      armed = case when ${hasFired}::boolean then false else armed or ${verdict === 'at_or_below'}::boolean end,
      last_fired_at = case when ${hasFired}::boolean then ${evaluated_at}::timestamptz else last_fired_at end
    where tenant_id = ${scope.tenant_id}::uuid and alert_id = ${rule.alert_id}::uuid`.execute(tx)
  return hasFired
}
