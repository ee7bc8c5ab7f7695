import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject } from '../schema-runs.ts'
import {
  ALERT_DESTINATION_KINDS,
  type AlertDeliveryRow,
  type AlertDestinationKind,
  type AlertEvaluation,
  type AlertRuleRow,
} from './protocol.ts'

/** A rule as stored, joined with its latest delivery, whose columns begin with `d_`. */
interface StoredRule {
  readonly alert_id: string
  readonly revision: number
  readonly metric: string
  readonly threshold: string
  readonly destination_kind: string
  readonly enabled: boolean
  readonly deleted_at: string | null
  readonly last_fired_at: string | null
  readonly evaluation_status: AlertEvaluation['status']
  readonly evaluation_reason: AlertEvaluation['reason']
  readonly evaluated_at: string | null
  readonly window_from: string | null
  readonly window_to: string | null
  readonly value: string | null
  readonly evidence: JsonObject | null
  readonly blocked_by: string | null
  readonly d_id: string | null
  readonly d_rule_revision: number
  readonly d_status: AlertDeliveryRow['status']
  readonly d_destination_kind: AlertDestinationKind
  readonly d_destination_revision: string
  readonly d_value: string
  readonly d_threshold: string
  readonly d_window_from: string
  readonly d_window_to: string
  readonly d_evidence: JsonObject | null
  readonly d_created_at: string
  readonly d_send_intent_at: string | null
  readonly d_finished_at: string | null
  readonly d_error_code: string | null
  readonly d_acknowledged_at: string | null
}

/** Rules that are not deleted, newest first; with `alertId` that rule, deleted or not. */
export async function selectRules(db: Queries, scope: Scope, alertId: string | null): Promise<AlertRuleRow[]> {
  const { rows } = await sql<StoredRule>`
    select r.alert_id, r.revision, r.metric, r.threshold, r.destination_kind, r.enabled, r.deleted_at, r.last_fired_at,
      r.evaluation_status, r.evaluation_reason, r.evaluated_at, r.window_from, r.window_to, r.value, r.evidence,
      (
        select u.delivery_id from parley.alert_deliveries u
        where u.tenant_id = r.tenant_id and u.alert_id = r.alert_id and u.status = 'uncertain' and u.acknowledged_at is null
      ) as blocked_by,
      d.delivery_id as d_id, d.rule_revision as d_rule_revision, d.status as d_status, d.destination_kind as d_destination_kind,
      d.destination_revision as d_destination_revision, d.value as d_value, d.threshold as d_threshold,
      d.window_from as d_window_from, d.window_to as d_window_to, d.evidence as d_evidence, d.created_at as d_created_at,
      d.send_intent_at as d_send_intent_at, d.finished_at as d_finished_at, d.error_code as d_error_code,
      d.acknowledged_at as d_acknowledged_at
    from parley.alert_rules r
    left join lateral (
      select * from parley.alert_deliveries l
      where l.tenant_id = r.tenant_id and l.alert_id = r.alert_id
      order by l.created_at desc, l.delivery_id desc limit 1
    ) d on true
    where r.tenant_id = ${scope.tenant_id}::uuid
      and case when ${alertId}::uuid is null then r.deleted_at is null else r.alert_id = ${alertId}::uuid end
    order by r.created_at desc, r.alert_id`.execute(db)
  return rows.map(toRule)
}

function toRule(row: StoredRule): AlertRuleRow {
  const { window_from: from, window_to: to } = row
  return {
    id: row.alert_id,
    revision: row.revision,
    metric: row.metric,
    threshold: row.threshold,
    destination: { kind: isDestinationKind(row.destination_kind) ? row.destination_kind : 'unsupported' },
    enabled: row.enabled,
    deleted_at: row.deleted_at,
    evaluation: {
      status: row.evaluation_status,
      reason: row.evaluation_reason,
      evaluated_at: row.evaluated_at,
      window: from === null || to === null ? null : { from, to },
      value: row.value,
      evidence: row.evidence,
    },
    last_fired_at: row.last_fired_at,
    blocked_by_delivery_id: row.blocked_by,
    latest_delivery: row.d_id === null ? null : latestDelivery(row, row.d_id),
  }
}

export function isDestinationKind(kind: string): kind is AlertDestinationKind {
  return ALERT_DESTINATION_KINDS.some(known => known === kind)
}

function latestDelivery(row: StoredRule, id: string): AlertDeliveryRow {
  return {
    id,
    rule_revision: row.d_rule_revision,
    status: row.d_status,
    destination_kind: row.d_destination_kind,
    destination_revision: row.d_destination_revision,
    value: row.d_value,
    threshold: row.d_threshold,
    window: { from: row.d_window_from, to: row.d_window_to },
    evidence: row.d_evidence,
    created_at: row.d_created_at,
    send_intent_at: row.d_send_intent_at,
    finished_at: row.d_finished_at,
    error_code: row.d_error_code,
    acknowledged_at: row.d_acknowledged_at,
  }
}
