import { z } from 'zod'
import { webhookEvent } from './drafts/draft-parts.ts'
import { run } from './runs/run.ts'
import { traceId } from './runs/run-content.ts'
import { alertDelivery, alertRule } from './usage/alerts.ts'
import { uuid } from './values/names.ts'
import { scope } from './values/references.ts'
import { timestamp } from './values/time.ts'

const envelope = {
  event_id: uuid.describe(
    'The id of the event: the same each time that it is sent. A receiver that knows it has nothing to do.',
  ),
  occurred_at: timestamp.describe('When the event happened, not when it was sent.'),
}

/** The body of an agent's webhook. */
export const runWebhook = z
  .strictObject({
    event: webhookEvent.describe('What happened to the run.'),
    ...envelope,
    trace_id: traceId.describe("The id of the run's trace in OpenTelemetry, 32 hexadecimal digits."),
    run: run.describe('The run as it was when the event happened.'),
  })
  .meta({ id: 'RunWebhook' })

/** The body of a notification of an alert whose destination is a webhook. */
export const alertWebhook = z
  .strictObject({
    event: z.literal('alert.fired').describe('The value of the metric is above the threshold of the rule.'),
    ...envelope,
    scope: scope.describe('The environment of the rule.'),
    rule: alertRule.describe('The rule as it was when the notification was sent.'),
    delivery: alertDelivery.describe('The notification, with the value, the window and the evidence.'),
  })
  .meta({ id: 'AlertWebhook' })

interface Webhook {
  /** The operation id in the OpenAPI document. */
  readonly id: string
  readonly summary: string
  readonly body: z.ZodObject
}

/** The requests that Parley sends, by event. */
export const WEBHOOKS: Readonly<Record<string, Webhook>> = {
  'run.started': runWebhookOf(
    'webhooks.run_started',
    'A run has started: a call was answered, or a chat or task was taken up',
  ),
  'run.transfer': runWebhookOf('webhooks.run_transfer', 'A call was transferred'),
  'run.ended': runWebhookOf('webhooks.run_ended', 'A run has ended; its outcome is final'),
  'run.analyzed': runWebhookOf('webhooks.run_analyzed', 'The analysis of an ended run is there'),
  'alert.fired': {
    id: 'webhooks.alert_fired',
    summary: 'An alert rule fired whose destination is a webhook',
    body: alertWebhook,
  },
}

function runWebhookOf(id: string, summary: string): Webhook {
  return { id, summary, body: runWebhook }
}
