import type { Scope } from '@parley/contract'
import {
  type AlertEvaluation,
  type AlertUnavailable,
  type AlertVerdict,
  type AlertWindow,
  type EvaluatedRule,
  isDestinationKind,
  type JsonObject,
  type LatencyMeasure,
  type RateMeasure,
  type SpendMeasure,
} from '@parley/store'
import { decimalUnits, fractionOf } from './decimals.ts'

const ALERT_METRICS = [
  'spend_usd_per_hour',
  'p95_latency_ms_1h',
  'call_error_rate_24h',
  'recording_failure_rate_24h',
] as const
export type AlertMetric = (typeof ALERT_METRICS)[number]

/** A metric of one environment over its window, as the database has it. */
export type Measured =
  | { readonly metric: 'spend_usd_per_hour'; readonly window: AlertWindow; readonly spend: SpendMeasure }
  | { readonly metric: 'p95_latency_ms_1h'; readonly window: AlertWindow; readonly latency: LatencyMeasure }
  | {
      readonly metric: 'call_error_rate_24h' | 'recording_failure_rate_24h'
      readonly window: AlertWindow
      readonly rate: RateMeasure
    }

/** The part of an evaluation that follows from the metric alone, the same for all rules on it. */
type MetricValue = Pick<AlertEvaluation, 'status' | 'reason' | 'value' | 'evidence'>

export function isAlertMetric(metric: string): metric is AlertMetric {
  return ALERT_METRICS.some(known => known === metric)
}

/** Why a rule cannot be evaluated, whatever its metric is; null: it can. */
export function ruleFault(rule: EvaluatedRule): AlertUnavailable | null {
  if (decimalUnits(rule.threshold) === undefined || !rule.is_readable) return 'invalid_rule'
  if (!isAlertMetric(rule.metric)) return 'unsupported_metric'
  if (!isDestinationKind(rule.destination_kind)) return 'unsupported_destination'
  return rule.destination_revision === null ? 'destination_unavailable' : null
}

/** The evaluation of a rule that cannot be evaluated. */
export function faultyEvaluation(reason: AlertUnavailable, at: string): AlertEvaluation {
  return { status: 'unavailable', reason, evaluated_at: at, window: null, value: null, evidence: null }
}

/** The evaluation of a rule without faults, from its metric, and what follows from it. */
export function evaluate(
  rule: EvaluatedRule,
  measured: Measured,
  scope: Scope,
): { readonly evaluation: AlertEvaluation; readonly verdict: AlertVerdict } {
  const value = metricValue(measured, scope)
  const { window } = measured
  return {
    evaluation: { ...value, evaluated_at: window.to, window },
    verdict: verdictOf(value.value, rule.threshold),
  }
}

function verdictOf(value: string | null, threshold: string): AlertVerdict {
  const [now, most] = [value === null ? undefined : decimalUnits(value), decimalUnits(threshold)]
  if (now === undefined || most === undefined) return 'none'
  return now > most ? 'above' : 'at_or_below'
}

function metricValue(measured: Measured, scope: Scope): MetricValue {
  switch (measured.metric) {
    case 'spend_usd_per_hour':
      return spendValue(measured.spend, measured.window, scope)
    case 'p95_latency_ms_1h':
      return latencyValue(measured.latency)
    case 'call_error_rate_24h':
    case 'recording_failure_rate_24h':
      return rateValue(measured.metric, measured.rate)
  }
}

/** Only costs that are recorded count: what live runs will cost is no part of the value. */
function spendValue(spend: SpendMeasure, window: AlertWindow, scope: Scope): MetricValue {
  const { observation_count, unpriced_count, amount } = spend
  if (!spend.has_rate_card) return unavailable('metric_unavailable')
  if (unpriced_count > 0) return unavailable('incomplete_usage')
  if (amount === null) return unavailable('no_observations')
  const { owner_id, environment, tenant_id } = scope
  return available(amount, {
    kind: 'usage_view',
    view: {
      schema_version: '1',
      scope: { owner_id, environment, tenant_id },
      window: { from: window.from, to: window.to },
      as_of: spend.as_of,
      snapshot: spend.snapshot,
      cohort: { observation_count, sha256: spend.sha256 },
    },
    basis: 'declared_estimate',
    currency: 'USD',
    coverage: 'recorded_measurements_only',
    observation_count,
  })
}

function latencyValue({ observation_count, p95 }: LatencyMeasure): MetricValue {
  if (p95 === null) return unavailable('no_observations')
  return available(p95, { kind: 'gateway_attempt_latency', observation_count })
}

/** With more calls open than settled, the fraction of the settled ones says nothing of them all. */
function rateValue(metric: AlertMetric, { observation_count, failed_count, unknown_count }: RateMeasure): MetricValue {
  const evidence = {
    kind: 'platform_metric',
    metric,
    definition_version: 1,
    observation_count,
    failed_count,
    unknown_count,
  }
  if (observation_count === 0 && unknown_count === 0) return unavailable('no_observations', evidence)
  if (unknown_count > observation_count) return unavailable('incomplete_coverage', evidence)
  return available(fractionOf(failed_count, observation_count), evidence)
}

function available(value: string, evidence: JsonObject): MetricValue {
  return { status: 'available', reason: null, value, evidence }
}

function unavailable(reason: AlertUnavailable, evidence: JsonObject | null = null): MetricValue {
  return { status: 'unavailable', reason, value: null, evidence }
}
