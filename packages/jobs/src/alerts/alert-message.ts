import type { Scope } from '@parley/contract'
import type { AlertDeliveryRow, AlertRuleRow } from '@parley/store'

/** A notification: who it is for is in its URL and headers. */
interface AlertMessage {
  readonly delivery: AlertDeliveryRow
  readonly rule: AlertRuleRow
  readonly scope: Scope
  /** The name that the environment shows. */
  readonly environmentName: string
}

const UNITS: Readonly<Record<string, string>> = { spend_usd_per_hour: ' USD', p95_latency_ms_1h: ' ms' }

/** One sentence for people. */
function alertText({ delivery, rule, environmentName, scope }: AlertMessage): string {
  const unit = UNITS[rule.metric] ?? ''
  const { from, to } = delivery.window
  return (
    `Parley alert in ${environmentName} (${scope.environment}): ${rule.metric} is ${delivery.value}${unit}, ` +
    `above ${delivery.threshold}${unit}, from ${from} to ${to}`
  )
}

/** The body for each kind of destination, as JSON. `routingKey`: of the kind `paging`. */
export function alertBody(message: AlertMessage, routingKey: string): string {
  const { delivery, rule, scope } = message
  switch (delivery.destination_kind) {
    case 'chat':
      return JSON.stringify({ text: alertText(message) })
    case 'paging':
      return JSON.stringify(pagingEvent(message, routingKey))
    case 'webhook': {
      const { owner_id, environment, tenant_id } = scope
      return JSON.stringify({
        event: 'alert.fired',
        // One delivery is one event: a receiver that gets it twice knows it by this id.
        event_id: delivery.id,
        occurred_at: delivery.created_at,
        scope: { owner_id, environment, tenant_id },
        rule,
        delivery,
      })
    }
  }
}

/** A trigger of the events API, version 2: its deduplication key joins repeated sends into one incident. */
function pagingEvent(message: AlertMessage, routingKey: string) {
  const { delivery, rule, scope } = message
  return {
    routing_key: routingKey,
    event_action: 'trigger',
    dedup_key: delivery.id,
    payload: {
      summary: alertText(message),
      source: `parley/${scope.tenant_id}`,
      severity: 'critical',
      timestamp: delivery.created_at,
      component: rule.metric,
      custom_details: {
        alert_id: rule.id,
        metric: rule.metric,
        value: delivery.value,
        threshold: delivery.threshold,
        window: delivery.window,
        evidence: delivery.evidence,
      },
    },
  }
}
