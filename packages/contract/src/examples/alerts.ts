import { at, type Examples, uuid } from './values.ts'

const scope = { owner_id: uuid, environment: 'production', tenant_id: uuid }
const window = { from: at, to: at }
const declared = {
  basis: 'declared_estimate',
  currency: 'USD',
  coverage: 'recorded_measurements_only',
  observation_count: 1,
}
/** Evidence of each kind. */
export const alertEvidence = [
  {
    kind: 'usage_view',
    view: {
      schema_version: '1',
      scope,
      window,
      as_of: at,
      snapshot: '10:20:10,14',
      cohort: { observation_count: 1, sha256: '0'.repeat(64) },
    },
    ...declared,
  },
  { kind: 'usage_statement', statement_id: uuid, ...declared },
  { kind: 'gateway_attempt_latency', observation_count: 1 },
  {
    kind: 'platform_metric',
    metric: 'call_error_rate_24h',
    definition_version: 1,
    observation_count: 0,
    failed_count: 0,
    unknown_count: 0,
  },
]
const alertRule = {
  id: uuid,
  revision: 1,
  metric: 'spend_usd_per_hour',
  threshold: '12.5',
  destination: { kind: 'webhook' },
  enabled: true,
  deleted_at: null,
  evaluation: {
    status: 'available',
    reason: null,
    evaluated_at: at,
    window,
    value: '13',
    evidence: alertEvidence[0],
  },
  last_fired_at: at,
  blocked_by_delivery_id: uuid,
  latest_delivery: {
    id: uuid,
    rule_revision: 1,
    status: 'uncertain',
    destination_kind: 'webhook',
    destination_revision: uuid,
    value: '13',
    threshold: '12.5',
    window,
    evidence: alertEvidence[3],
    created_at: at,
    send_intent_at: at,
    finished_at: at,
    error_code: 'timeout',
    acknowledged_at: null,
  },
}
const alertDestinations = {
  scope,
  destinations: { chat: { revision: uuid, configured: true }, paging: { revision: null, configured: false } },
}
const newRule = {
  metric: 'spend_usd_per_hour',
  threshold: '12.5',
  enabled: true,
  destination: { kind: 'webhook', url: 'https://alerts.example.com/parley' },
}
const scopedRule = { scope, rule: alertRule }

export const alertExamples = {
  'alerts.list': { answer: { scope, items: [alertRule] } },
  'alerts.create': { body: { rule: newRule }, answer: scopedRule },
  'alerts.update': {
    body: {
      expected_revision: 1,
      rule: {
        metric: 'call_error_rate_24h',
        threshold: '0.05',
        enabled: true,
        destination: { action: 'replace', value: newRule.destination },
      },
    },
    answer: scopedRule,
  },
  'alerts.delete': { answer: scopedRule },
  'alerts.acknowledge': { body: { expected_revision: 1, delivery_id: uuid }, answer: scopedRule },
  'alert_destinations.get': { answer: alertDestinations },
  'alert_destinations.update': {
    body: {
      chat: { expected_revision: uuid, webhook_url: 'https://chat.example.com/hooks/1' },
      paging: { expected_revision: null, routing_key: 'R0' },
    },
    answer: alertDestinations,
  },
} as const satisfies Examples
