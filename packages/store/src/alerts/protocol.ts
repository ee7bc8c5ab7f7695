import type { JsonObject } from '../schema-runs.ts'

export const ALERT_DESTINATION_KINDS = ['chat', 'paging', 'webhook'] as const
export type AlertDestinationKind = (typeof ALERT_DESTINATION_KINDS)[number]

/** The secret whose current version an alert rule of the kind `webhook` pins; notifications are signed with it. */
export const ALERT_SIGNING_SECRET = 'alert_webhook'

export interface AlertWindow {
  /** ISO, inclusive. */
  readonly from: string
  /** ISO, exclusive. */
  readonly to: string
}

export type AlertUnavailable =
  | 'no_observations'
  | 'incomplete_usage'
  | 'incomplete_coverage'
  | 'metric_unavailable'
  | 'unsupported_metric'
  | 'destination_unavailable'
  | 'unsupported_destination'
  | 'invalid_rule'

/** The result of one evaluation of a rule. */
export interface AlertEvaluation {
  readonly status: 'pending' | 'available' | 'unavailable'
  readonly reason: AlertUnavailable | null
  readonly evaluated_at: string | null
  readonly window: AlertWindow | null
  /** A decimal. */
  readonly value: string | null
  /** As AlertEvidence of the contract. */
  readonly evidence: JsonObject | null
}

/** As AlertDelivery of the contract. */
export interface AlertDeliveryRow {
  readonly id: string
  readonly rule_revision: number
  readonly status: 'pending' | 'sending' | 'delivered' | 'cancelled' | 'uncertain'
  readonly destination_kind: AlertDestinationKind
  readonly destination_revision: string
  readonly value: string
  readonly threshold: string
  readonly window: AlertWindow
  readonly evidence: JsonObject | null
  readonly created_at: string
  readonly send_intent_at: string | null
  readonly finished_at: string | null
  readonly error_code: string | null
  readonly acknowledged_at: string | null
}

/** As AlertRule of the contract. */
export interface AlertRuleRow {
  readonly id: string
  readonly revision: number
  readonly metric: string
  readonly threshold: string
  readonly destination: { readonly kind: AlertDestinationKind | 'unsupported' }
  readonly enabled: boolean
  readonly deleted_at: string | null
  readonly evaluation: AlertEvaluation
  readonly last_fired_at: string | null
  readonly blocked_by_delivery_id: string | null
  readonly latest_delivery: AlertDeliveryRow | null
}
