import { type alertDestinations, type alertRule, Refusal, type Scope } from '@parley/contract'
import {
  type AlertDestinationValue,
  type AlertRuleRow,
  acknowledgeDelivery,
  deleteAlertRule,
  ENVIRONMENT_LIMITS,
  insertAlertRule,
  listAlertRules,
  readAlertDestinations,
  readAlertRule,
  updateAlertRule,
  writeAlertDestination,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers, Platform } from '../context.ts'
import { refuseAddress } from './drafts-refusals.ts'

export const alertHandlers = {
  'alerts.list': async (_, { db, scope }) => {
    const rules = await listAlertRules(db, scope)
    return { status: 200, body: { scope: scopeOf(scope), items: rules.map(toRule) } }
  },

  'alerts.create': async ({ body: { rule } }, context) => {
    const { db, scope, platform } = context
    refuseUrl(rule.destination, '/rule/destination/url', platform)
    const made = await insertAlertRule(db, scope, platform.sealer, rule)
    if (made === 'limit_reached')
      throw new Refusal(
        'conflict',
        `the environment has ${ENVIRONMENT_LIMITS.alert_rules} alert rules: delete one first`,
        { reason: 'limit_reached' },
      )
    if (typeof made === 'string') throw destinationRefusal(made, rule.destination.kind)
    auditRule(context, made.id)
    return { status: 201, body: { scope: scopeOf(scope), rule: toRule(made) } }
  },

  'alerts.update': async ({ params: { alert_id }, body: { expected_revision, rule } }, context) => {
    const { db, scope, platform } = context
    auditRule(context, alert_id)
    const { destination, ...fields } = rule
    const value = destination.action === 'keep' ? null : destination.value
    if (value !== null) refuseUrl(value, '/rule/destination/value/url', platform)
    const change = { ...fields, alertId: alert_id, expectedRevision: expected_revision, destination: value }
    const updated = await updateAlertRule(db, scope, platform.sealer, change)
    if (updated === null) throw noAlert(alert_id)
    if (updated === 'stale') throw await staleAlert(context, alert_id)
    if (typeof updated === 'string') throw destinationRefusal(updated, value!.kind)
    return { status: 200, body: { scope: scopeOf(scope), rule: toRule(updated) } }
  },

  'alerts.delete': async ({ params: { alert_id }, query: { expected_revision } }, context) => {
    const { db, scope } = context
    auditRule(context, alert_id)
    const deleted = await deleteAlertRule(db, scope, alert_id, expected_revision)
    if (deleted === null) throw noAlert(alert_id)
    if (deleted === 'stale') throw await staleAlert(context, alert_id)
    return { status: 200, body: { scope: scopeOf(scope), rule: toRule(deleted) } }
  },

  'alerts.acknowledge': async ({ params: { alert_id }, body: { expected_revision, delivery_id } }, context) => {
    const { db, scope } = context
    auditRule(context, alert_id)
    const rule = await acknowledgeDelivery(db, scope, alert_id, expected_revision, delivery_id)
    if (rule === null) throw noAlert(alert_id)
    if (rule === 'stale') throw await staleAlert(context, alert_id)
    if (rule === 'not_uncertain')
      throw new Refusal('conflict', `the rule has no uncertain delivery "${delivery_id}": read it again`, {
        reason: 'not_uncertain',
      })
    return { status: 200, body: { scope: scopeOf(scope), rule: toRule(rule) } }
  },

  'alert_destinations.get': async (_, { db, scope }) => ({
    status: 200,
    body: toDestinations(scope, await readAlertDestinations(db, scope)),
  }),

  'alert_destinations.update': async ({ body: { chat, paging } }, context) => {
    const { db, scope, platform } = context
    context.auditResource({ kind: 'operation', id: 'alert-destinations' })
    if (chat?.webhook_url) refuseAddress(chat.webhook_url, '/chat/webhook_url', platform)
    // In one order, so that two requests never wait for each other.
    const changes = [
      ...(chat === undefined
        ? []
        : [{ kind: 'chat' as const, expected: chat.expected_revision, value: chat.webhook_url }]),
      ...(paging === undefined
        ? []
        : [{ kind: 'paging' as const, expected: paging.expected_revision, value: paging.routing_key }]),
    ]
    for (const change of changes)
      if ((await writeAlertDestination(db, scope, platform.sealer, change)) === 'stale') {
        const { chat, paging } = await readAlertDestinations(db, scope)
        throw new Refusal(
          'conflict',
          `the alert destination ${change.kind} was changed meanwhile: read the destinations again and repeat the request`,
          {
            reason: 'stale_revision',
            details: { current: { chat: { revision: chat.revision }, paging: { revision: paging.revision } } },
          },
        )
      }
    return { status: 200, body: toDestinations(scope, await readAlertDestinations(db, scope)) }
  },
} satisfies Partial<Handlers>

function scopeOf({ owner_id, environment, tenant_id }: Scope): Scope {
  return { owner_id, environment, tenant_id }
}

/** The store writes evidence in the form of the contract, which the answer's parser checks. */
function toRule(row: AlertRuleRow): z.input<typeof alertRule> {
  return row as z.input<typeof alertRule>
}

function toDestinations(
  scope: Scope,
  destinations: Awaited<ReturnType<typeof readAlertDestinations>>,
): z.input<typeof alertDestinations> {
  return { scope: scopeOf(scope), destinations }
}

function auditRule(context: Context, alertId: string): void {
  context.auditResource({ kind: 'operation', id: `alerts/${alertId}` })
}

function refuseUrl(value: AlertDestinationValue, path: string, platform: Platform): void {
  if (value.kind === 'webhook') refuseAddress(value.url, path, platform)
}

function noAlert(alertId: string): Refusal {
  return new Refusal('not_found', `there is no alert rule "${alertId}"; list the rules with GET /alerts`)
}

async function staleAlert({ db, scope }: Context, alertId: string): Promise<Refusal> {
  const now = await readAlertRule(db, scope, alertId)
  return new Refusal('conflict', `the alert rule has revision ${now?.revision}: read it again and repeat the request`, {
    reason: 'stale_revision',
    details: { current: now === null ? null : { revision: now.revision } },
  })
}

function destinationRefusal(
  reason: 'destination_not_configured' | 'signing_secret_missing',
  kind: AlertDestinationValue['kind'],
): Refusal {
  const message =
    reason === 'signing_secret_missing'
      ? 'alert webhooks are signed with the secret "alert_webhook" of kind webhook_signing, which does not exist: store it first'
      : `the alert destination ${kind} is not configured: set it with PATCH /alert-destinations first`
  return new Refusal('capability_unavailable', message, { reason })
}
