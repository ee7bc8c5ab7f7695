import { decimal, text, uri } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { revision, uuid } from '../values/names.ts'
import { scope } from '../values/references.ts'
import { timestamp } from '../values/time.ts'
import { deliveredKind, evidence, shownDecimal, window } from './alert-evidence.ts'

const evaluation = z
  .strictObject({
    /** `pending`: the rule was not evaluated yet; `unavailable`: the last evaluation has no value, see `reason`. */
    status: z.enum(['pending', 'available', 'unavailable']),
    reason: z
      .enum([
        'no_observations',
        'incomplete_usage',
        'incomplete_coverage',
        'metric_unavailable',
        'unsupported_metric',
        'destination_unavailable',
        'unsupported_destination',
        'invalid_rule',
      ])
      .nullable(),
    evaluated_at: timestamp.nullable(),
    window: window.nullable(),
    value: shownDecimal.nullable(),
    evidence: evidence.nullable(),
  })
  .meta({ id: 'AlertEvaluation' })

export const alertDelivery = z
  .strictObject({
    id: uuid,
    rule_revision: revision,
    /** `uncertain`: a request was sent and nobody knows whether it arrived; the rule fires again only after an acknowledgement. */
    status: z.enum(['pending', 'sending', 'delivered', 'cancelled', 'uncertain']),
    destination_kind: deliveredKind,
    destination_revision: text(1),
    value: shownDecimal,
    threshold: shownDecimal,
    window,
    evidence: evidence.nullable(),
    created_at: timestamp,
    /** When the latest request was about to be sent. */
    send_intent_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    error_code: text(1).nullable(),
    acknowledged_at: timestamp.nullable(),
  })
  .meta({ id: 'AlertDelivery' })

export const alertRule = z
  .strictObject({
    id: uuid,
    revision,
    metric: text(1),
    threshold: text(1),
    /** `unsupported`: this version of Parley does not know the kind. */
    destination: z.strictObject({ kind: z.enum(['chat', 'paging', 'webhook', 'unsupported']) }),
    enabled: z.boolean(),
    deleted_at: timestamp.nullable(),
    evaluation,
    last_fired_at: timestamp.nullable(),
    /** The uncertain delivery that must be acknowledged before the rule fires again. */
    blocked_by_delivery_id: uuid.nullable(),
    latest_delivery: alertDelivery.nullable(),
  })
  .meta({ id: 'AlertRule' })

const scopedRule = z.strictObject({ scope, rule: alertRule }).meta({ id: 'ScopedAlertRule' })

const ruleFields = {
  metric: z.enum(['spend_usd_per_hour', 'p95_latency_ms_1h', 'call_error_rate_24h', 'recording_failure_rate_24h']),
  /** The rule fires when the metric's value is greater: USD, milliseconds, or a fraction of 1. */
  threshold: decimal.max(64),
  enabled: z.boolean(),
}

const destinationValue = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('chat') }),
    z.strictObject({ kind: z.literal('paging') }),
    z.strictObject({ kind: z.literal('webhook'), url: uri(4096, ['https', 'http']) }),
  ])
  .meta({ id: 'AlertDestinationValue' })

const byId = z.strictObject({ alert_id: uuid })

const listAlerts = operation({
  id: 'alerts.list',
  method: 'GET',
  path: '/api/v1/alerts',
  summary: 'List alert rules with their last evaluation and latest notification',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: z.strictObject({ scope, items: z.array(alertRule) }),
  statuses: [200],
  refusals: {},
})

const createAlert = operation({
  id: 'alerts.create',
  method: 'POST',
  path: '/api/v1/alerts',
  summary:
    'Create an alert rule that notifies chat, paging or a webhook when spend, latency or a failure rate exceeds a threshold',
  role: 'admin',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({ rule: z.strictObject({ ...ruleFields, destination: destinationValue }) }),
  output: scopedRule,
  statuses: [201, 200],
  refusals: {
    invalid_request: ['address_not_allowed'],
    conflict: ['limit_reached'],
    capability_unavailable: ['signing_secret_missing', 'destination_not_configured'],
  },
})

const updateAlert = operation({
  id: 'alerts.update',
  method: 'PATCH',
  path: '/api/v1/alerts/{alert_id}',
  summary: 'Change an alert rule (compare-and-set on its revision); it is evaluated anew and may fire again',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: z.strictObject({
    expected_revision: revision,
    rule: z.strictObject({
      ...ruleFields,
      destination: z.discriminatedUnion('action', [
        z.strictObject({ action: z.literal('keep') }),
        z.strictObject({ action: z.literal('replace'), value: destinationValue }),
      ]),
    }),
  }),
  output: scopedRule,
  statuses: [200],
  refusals: {
    invalid_request: ['address_not_allowed'],
    conflict: ['stale_revision'],
    capability_unavailable: ['signing_secret_missing', 'destination_not_configured'],
  },
})

const deleteAlert = operation({
  id: 'alerts.delete',
  method: 'DELETE',
  path: '/api/v1/alerts/{alert_id}',
  summary: 'Delete an alert rule (compare-and-set on its revision) and cancel its pending notification',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: z.strictObject({ expected_revision: revision }),
  body: null,
  output: scopedRule,
  statuses: [200],
  refusals: { conflict: ['stale_revision'] },
})

const acknowledgeAlert = operation({
  id: 'alerts.acknowledge',
  method: 'POST',
  path: '/api/v1/alerts/{alert_id}/acknowledge',
  summary: 'Acknowledge an uncertain notification of an alert rule, so that the rule may fire again',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: z.strictObject({ expected_revision: revision, delivery_id: uuid }),
  output: scopedRule,
  statuses: [200],
  refusals: { conflict: ['stale_revision', 'not_uncertain'] },
})

export const alertOperations = [listAlerts, createAlert, updateAlert, deleteAlert, acknowledgeAlert] as const
