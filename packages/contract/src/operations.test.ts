import { describe, expect, it } from 'vitest'
import { minimumRole, type Operation } from './operation.ts'
import { operations, streams } from './operations.ts'
import { operationIdOf, SPECIFIED_OPERATIONS } from './testing/specified-operations.ts'

/** The reasons, beyond the common ones, for which each operation refuses a well-formed request. */
const REASONS: Readonly<Record<string, string>> = {
  'environments.ensure_sandbox': 'forbidden/production_only',
  'keys.create': 'conflict/limit_reached',
  'keys.rotate': 'conflict/key_revoked',
  'site_keys.create': 'conflict/agent_archived conflict/limit_reached',
  'secrets.put': 'conflict/kind_mismatch conflict/limit_reached',
  'secrets.delete': 'conflict/secret_in_use',
  'provider_keys.put': 'invalid_request/provider_key_rejected invalid_request/address_not_allowed',
  'team.invite': 'forbidden/production_only conflict/already_member conflict/invitation_pending conflict/limit_reached',
  'team.invite_revoke': 'forbidden/production_only',
  'team.invite_resend': 'forbidden/production_only',
  'team.remove': 'forbidden/production_only conflict/last_admin',
  'team.set_role': 'forbidden/production_only conflict/last_admin',
  'tenant_settings.update': 'conflict/stale_revision',
  'agents.create': 'conflict/agent_exists',
  'agents.clone': 'conflict/nothing_to_clone conflict/agent_exists',
  'agents.import':
    'invalid_request/webhook_mismatch invalid_request/secret_not_found invalid_request/address_not_allowed conflict/draft_has_changes conflict/stale_revision ' +
    'conflict/agent_archived capability_unavailable/unsupported_capability publication_invalid/model_binding_required',
  'agents.export': 'conflict/agent_not_published',
  'test_runs.create': 'conflict/agent_archived',
  'test_runs.estimate': 'conflict/agent_archived',
  'test_suites.create': 'conflict/limit_reached',
  'test_suites.edit': 'invalid_request/edit_not_applicable conflict/stale_revision conflict/limit_reached',
  'test_suites.delete': 'conflict/stale_revision',
  'drafts.edit':
    'invalid_request/edit_not_applicable invalid_request/address_not_allowed conflict/stale_revision ' +
    'conflict/agent_archived conflict/limit_reached',
  'drafts.discard': 'conflict/stale_revision conflict/agent_archived',
  'drafts.open': 'conflict/draft_exists conflict/agent_not_published conflict/agent_archived',
  'drafts.validate': 'conflict/stale_revision',
  'publications.publish':
    'conflict/stale_revision conflict/agent_archived publication_invalid/invalid_draft capability_unavailable/gate_suite_missing',
  'publications.set_head':
    'conflict/stale_revision conflict/test_publication conflict/agent_archived conflict/gate_pending conflict/gate_failed capability_unavailable/gate_suite_missing',
  'trunks.create':
    'invalid_request/secret_not_found invalid_request/address_not_allowed conflict/trunk_exists conflict/limit_reached ' +
    'capability_unavailable/tenant_not_configured',
  'voices.preview': 'conflict/preview_consumed capability_unavailable/voice_not_ready',
  'trunks.update': 'invalid_request/secret_not_found invalid_request/address_not_allowed',
  'trunks.delete': 'conflict/trunk_in_use',
  'numbers.import': 'conflict/number_exists conflict/limit_reached',
  'numbers.assign':
    'conflict/agent_archived conflict/agent_not_published conflict/test_publication conflict/trunk_not_inbound ' +
    'capability_unavailable/channel_not_supported',
  'runs.create':
    'forbidden/can_dial policy_denied/destination_not_allowed policy_denied/spend_cap conflict/agent_archived ' +
    'conflict/agent_not_published conflict/test_publication capability_unavailable/channel_not_supported capability_unavailable/livekit_not_configured ' +
    'capability_unavailable/telephony_missing capability_unavailable/trunk_unavailable ' +
    'capability_unavailable/number_unavailable capability_unavailable/secret_unavailable ' +
    'capability_unavailable/model_not_ready capability_unavailable/voice_not_ready ' +
    'capability_unavailable/admission_disabled capability_unavailable/tenant_not_configured ' +
    'rate_limited/daily_call_limit rate_limited/concurrent_capacity',
  'runs.replay':
    'conflict/agent_archived conflict/agent_not_published conflict/stale_revision conflict/inputs_missing conflict/redacted publication_invalid/invalid_draft',
  'runs.update': 'run_not_active/run_ended capability_unavailable/channel_not_supported',
  'runs.message': 'conflict/turn_in_progress run_not_active/run_ended capability_unavailable/mode_not_supported',
  'runs.listen':
    'policy_denied/listening_disabled run_not_active/run_ended capability_unavailable/channel_not_supported',
  'budgets.update': 'conflict/stale_revision capability_unavailable/pricing_not_installed',
  'alerts.create':
    'invalid_request/address_not_allowed conflict/limit_reached capability_unavailable/signing_secret_missing ' +
    'capability_unavailable/destination_not_configured',
  'alerts.update':
    'invalid_request/address_not_allowed conflict/stale_revision capability_unavailable/signing_secret_missing ' +
    'capability_unavailable/destination_not_configured',
  'alerts.delete': 'conflict/stale_revision',
  'alerts.acknowledge': 'conflict/stale_revision conflict/not_uncertain',
  'alert_destinations.update': 'invalid_request/address_not_allowed conflict/stale_revision',
  'knowledge.configure': 'capability_unavailable/model_not_ready',
  'knowledge.reembed': 'capability_unavailable/model_not_ready knowledge_unavailable/not_configured',
  'knowledge.documents_create': 'conflict/limit_reached',
  'knowledge.search':
    'capability_unavailable/model_not_ready knowledge_unavailable/not_configured knowledge_unavailable/no_generation',
}

const COMMON = new Set([
  'invalid_request/body_too_large',
  'invalid_request/invalid_cursor',
  'forbidden/role',
  'conflict/in_progress',
  'rate_limited/request_rate',
])

const rows = SPECIFIED_OPERATIONS.map(
  ({ method, path, tool, role, idempotency, statuses }) => [method, path, tool, role, idempotency, statuses] as const,
)

const all: readonly Operation[] = operations

describe('the operations of the API', () => {
  it.each(rows)(
    '%s %s has the tool %s, the role %s, the idempotency %s and the statuses %s',
    (method, path, tool, role, idempotency, statuses) => {
      const found = all.filter(operation => operation.method === method && operation.path === path)
      expect(found).toHaveLength(1)
      const { id, ...operation } = found[0]!
      expect({ id, tool: operation.tool, role: operation.role, idempotency: operation.idempotency }).toEqual({
        id: operationIdOf(tool),
        tool,
        role,
        idempotency,
      })
      expect(operation.statuses.join(',')).toBe(statuses)
    },
  )

  it('the operations are exactly those of the specification', () =>
    expect(all.map(({ tool }) => tool).sort()).toEqual(rows.map(row => row[2]).sort()))

  it('every operation has a unique id', () => expect(new Set(all.map(({ id }) => id)).size).toBe(rows.length))

  it('drafts.get needs the role viewer, agents.create the role member, and keys.create the role admin', () => {
    const roleOf = (id: string) => minimumRole(all.find(operation => operation.id === id)!)
    expect(roleOf('drafts.get')).toBe('viewer')
    expect(roleOf('agents.create')).toBe('member')
    expect(roleOf('keys.create')).toBe('admin')
  })

  it('runs.events is the only event stream and has no tool', () => {
    expect(streams.map(({ id, method, path, tool, media }) => [id, method, path, tool, media])).toEqual([
      ['runs.events', 'GET', '/api/v1/runs/{run_id}/events', null, 'text/event-stream'],
    ])
    expect(all.filter(({ media }) => media !== 'application/json')).toEqual([])
  })

  it('reading is audited for recordings only', () => {
    expect(all.filter(({ auditsReads }) => auditsReads).map(({ id }) => id)).toEqual(['runs.recording'])
  })

  it('bodies of imports and documents may have 8 MiB, all others 1 MiB; imports, searches, previews and checks of keys are costly', () => {
    const large = all.filter(({ bodyBytes }) => bodyBytes !== 1024 * 1024)
    expect(large.map(({ id, bodyBytes }) => [id, bodyBytes])).toEqual([
      ['agents.import', 8_388_608],
      ['agents.import_inspect', 8_388_608],
      ['knowledge.documents_create', 8_388_608],
    ])
    expect(all.filter(({ rate }) => rate === 'costly').map(({ id }) => id)).toEqual([
      'provider_keys.put',
      'agents.import',
      'agents.import_inspect',
      'voices.preview',
      'knowledge.search',
    ])
  })
})

describe.each(all)('$id', operation => {
  it('an operation declares exactly the parameters that its path has', () => {
    const named = [...operation.path.matchAll(/\{([a-z_]+)\}/g)].map(match => match[1])
    expect(Object.keys(operation.params?.shape ?? {})).toEqual(named)
  })

  it('an operation by GET or DELETE has no body, and any other has no query', () => {
    if (operation.method === 'GET' || operation.method === 'DELETE') expect(operation.body).toBeNull()
    else expect(operation.query).toBeNull()
  })

  it('an idempotency key is declared exactly if the header is required', () =>
    expect(operation.idempotencyKey !== null).toBe(operation.idempotency === 'required_header'))

  it('the hints follow from method and idempotency', () => {
    const reads = operation.method === 'GET' || /validate|inspect|search|estimate/.test(operation.id)
    expect(operation.hints).toEqual({
      readOnly: reads,
      destructive: operation.method === 'DELETE' || operation.id.endsWith('.cancel'),
      idempotent: operation.idempotency !== 'required_header',
    })
  })

  it('the errors that every operation has are declared', () => {
    expect(Object.keys(operation.errors)).toEqual(
      expect.arrayContaining(['invalid_request', 'unauthenticated', 'forbidden', 'rate_limited', 'internal']),
    )
    if (operation.idempotency === 'required_header') {
      expect(operation.errors.conflict).toContain('in_progress')
      expect(operation.errors.idempotency_conflict).toEqual([])
    }
    if (operation.params !== null) expect(operation.errors.not_found).toEqual([])
  })

  it('the further error reasons are exactly those listed here', () => {
    const reasons = Object.entries(operation.errors).flatMap(([code, all]) => all.map(reason => `${code}/${reason}`))
    const own = reasons.filter(reason => !COMMON.has(reason))
    expect(own.sort()).toEqual((REASONS[operation.id]?.split(' ') ?? []).sort())
  })
})
