import {
  atLeast,
  boolean,
  e164,
  type FieldCases,
  identifier,
  integer,
  list,
  mismatches,
  nullable,
  object,
  oneOf,
  pattern,
  revision,
  text,
  trunkId,
  uuid,
  variations,
  version,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { agentSummary } from './agents/agent-summary.ts'
import { actionDescriptor } from './catalogue/actions.ts'
import { model } from './catalogue/models.ts'
import { voice } from './catalogue/voices.ts'
import { diagnosticFix } from './drafts/diagnostic.ts'
import { draftResult } from './drafts/draft.ts'
import { publication } from './publications/publications.ts'
import { callLimit } from './telephony/call-limit.ts'
import { phoneNumber } from './telephony/numbers.ts'
import { trunk } from './telephony/trunks.ts'
import { environment } from './workspace/environments.ts'
import { apiKeyCreated } from './workspace/keys.ts'
import { secret } from './workspace/secrets.ts'
import { tenantSettings } from './workspace/tenant-settings.ts'

const id = uuid.valid[0]
const now = '2026-01-01T00:00:00.000Z'
const at = pattern([now], ['', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000+00:00'])
const digest = pattern([`sha256:${'0f'.repeat(32)}`], ['', `sha256:${'0F'.repeat(32)}`, `sha256:${'0'.repeat(65)}`])
const days = integer(1, 3650)
const when = { created_at: at, updated_at: at }

/** A list of these values that must not be empty. */
function words(...all: string[]): FieldCases {
  return { valid: [[all[0]], all], invalid: [[], ['no-such-word'], 'x'], optional: false }
}

/** A list of any length. */
function many(item: FieldCases): FieldCases {
  return { valid: [[], item.valid], invalid: [...item.invalid.map(refused => [refused]), 'x'], optional: false }
}

const channels = words('cloud', 'phone')
const languages = words('en', 'es')
const agentRef = object(
  { tenant_id: id, kind: 'agent', id: 'ada' },
  {
    tenant_id: uuid,
    kind: oneOf('agent'),
    id: identifier(256),
  },
)
const head = { version: 0, digest: digest.valid[0], channels: ['phone'], languages: ['en'], published_at: now }
const lastRun = { run_id: id, created_at: now, state: 'running', disposition: null }
const principal = { owner_id: 'o', environment: 'sandbox', kind: 'user', id }
const edit = { type: 'notification.remove' }
const reason = nullable(oneOf('no_key', 'unreachable', 'disabled'))

/** The bounds of each field of a resource; all fields are required. */
const RESOURCES: Record<string, [z.ZodType, Record<string, FieldCases>]> = {
  AgentSummary: [
    agentSummary,
    {
      ref: agentRef,
      name: text(1, 256),
      head: nullable(object(head, { version, digest, channels, languages, published_at: at })),
      draft: nullable(
        object(
          { draft_id: id, revision: 1, base_version: null, published_revision: null },
          {
            draft_id: uuid,
            revision,
            base_version: nullable(version),
            published_revision: nullable(revision),
          },
        ),
      ),
      ...when,
      last_run: nullable(
        object(lastRun, {
          run_id: uuid,
          created_at: at,
          state: oneOf('admitted', 'running', 'ending', 'completed', 'failed', 'cancelled', 'rejected', 'expired'),
          disposition: nullable(pattern(['completed', ''], ['\0'])),
        }),
      ),
    },
  ],
  DraftResult: [
    draftResult,
    {
      agent: agentRef,
      draft_id: uuid,
      revision,
      base_version: nullable(version),
      published_revision: nullable(revision),
      updated_at: at,
    },
  ],
  Publication: [
    publication,
    {
      ref: object({ agent_id: 'ada', version: 0, digest: head.digest }, { agent_id: identifier(256), version, digest }),
      plan_schema_version: atLeast(1),
      channels,
      languages,
      source_kind: oneOf('studio', 'agent_import', 'api'),
      published_at: at,
      published_by: {
        valid: [principal],
        invalid: [
          { ...principal, id: 'x' },
          { ...principal, extra: 1 },
        ],
        optional: false,
      },
      is_head: boolean,
      test: boolean,
    },
  ],
  ApiKeyCreated: [
    apiKeyCreated,
    {
      key_id: uuid,
      name: text(1, 128),
      role: oneOf('admin', 'member', 'viewer'),
      can_dial: boolean,
      prefix: text(4, 32),
      created_at: at,
      last_used_at: nullable(at),
      expires_at: nullable(at),
      revoked_at: nullable(at),
      secret: text(16, 256),
    },
  ],
  Secret: [
    secret,
    {
      secret_id: identifier(128),
      kind: oneOf('sip_auth', 'http_auth', 'webhook_signing', 'provider_credential'),
      version: pattern(['1', '007', '9'.repeat(128)], ['', 'v1', '1.0', '9'.repeat(129)]),
      versions: many(object({ version: '1', created_at: now }, { version: pattern(['1'], ['', 'a']), created_at: at })),
      ...when,
    },
  ],
  TenantSettings: [
    tenantSettings,
    {
      name: pattern(['Demo', ''], ['\0']),
      display_name: nullable(text(1, 128)),
      listening_enabled: boolean,
      retention: object(
        { recording_days: 1, transcript_days: 1, document_days: null, source: 'tenant', version: 0 },
        {
          recording_days: days,
          transcript_days: days,
          document_days: nullable(days),
          source: oneOf('platform_default', 'tenant'),
          version: atLeast(0),
        },
      ),
    },
  ],
  Environment: [
    environment,
    {
      environment: oneOf('production', 'sandbox'),
      tenant_id: uuid,
      name: pattern(['Demo', ''], ['\0']),
      display_name: nullable(text(1, 128)),
      admission_enabled: boolean,
      concurrent_capacity: nullable(atLeast(0)),
      created_at: at,
    },
  ],
  DiagnosticFix: [
    diagnosticFix,
    {
      id: text(1, 64),
      label: text(1, 256),
      edits: list(1, 100, { valid: [edit], invalid: [{}, 'x'], optional: false }),
    },
  ],
  CallLimit: [
    callLimit,
    { daily_limit: nullable(atLeast(0)), calls_last_24h: atLeast(0), remaining: nullable(atLeast(0)), as_of: at },
  ],
  Trunk: [
    trunk,
    {
      trunk_id: trunkId,
      name: text(1, 256),
      provider: oneOf('carrier_elastic_sip', 'generic_sip'),
      termination_uri: pattern(['a', 'a.b-c'], ['', 'a.', 'A', 'a'.repeat(254)]),
      auth_username: nullable(text(1, 256)),
      auth_secret: nullable(object({ id: 's', version: '1' }, { id: text(1, 128), version: text(1, 128) })),
      inbound: boolean,
      inbound_sip_uri: nullable(text(0, 1024)),
      ...when,
    },
  ],
  PhoneNumber: [
    phoneNumber,
    {
      number_id: uuid,
      phone_number: e164,
      trunk_id: trunkId,
      name: nullable(text(1, 256)),
      assignment: nullable(
        object({ agent_id: 'ada', version: null }, { agent_id: identifier(256), version: nullable(version) }),
      ),
      inbound: oneOf('token', 'address', 'unconfirmed'),
      ...when,
    },
  ],
  ActionDescriptor: [
    actionDescriptor,
    {
      id: text(1, 128),
      version: atLeast(1),
      name: text(1, 256),
      description: text(0, 1024),
      channels: words('cloud', 'phone', 'web', 'control'),
      invocations: words('model_tool', 'flow_node', 'setting', 'lifecycle', 'command'),
      effect_kind: oneOf(
        ...['none', 'transaction', 'gateway_inference', 'http', 'rtc_room'],
        ...['sip_dial', 'sip_transfer', 'sip_hangup', 'run_admission', 'gpu'],
      ),
      input_schema: { valid: [{}, { type: 'object' }], invalid: [[], 'x'], optional: false },
      output_schema: { valid: [{}], invalid: [[], 'x'], optional: false },
    },
  ],
  Model: [
    model,
    {
      model: object(
        { model_id: 'm', provider: 'p', tier: 'frontier' },
        {
          tier: oneOf('frontier', 'platform-served', 'customer-gpu'),
        },
      ),
      name: pattern(['m'], ['\0']),
      kind: oneOf('chat', 'embedding', 'realtime'),
      provider: oneOf('hosted', 'simulated_hosted', 'self_hosted', 'simulated_self_hosted'),
      ready: boolean,
      reason,
      context_tokens: nullable(atLeast(1)),
      dimension: nullable(atLeast(1)),
      tools: boolean,
    },
  ],
  Voice: [
    voice,
    {
      role: oneOf('stt', 'tts'),
      provider: text(1, 256),
      model: text(1, 256),
      voice_id: nullable(text(1, 256)),
      name: pattern(['v'], ['\0']),
      languages: many(text(1, 64)),
      gender: nullable(oneOf('female', 'male', 'neutral')),
      ready: boolean,
      reason,
    },
  ],
}

describe('a resource', () => {
  it.each(Object.entries(RESOURCES))(
    '%s has exactly the specified fields, each with its bounds',
    (_, [schema, fields]) => {
      const valid = Object.fromEntries(Object.entries(fields).map(([name, { valid: takes }]) => [name, takes[0]]))
      expect(mismatches(variations(valid, fields), value => schema.safeParse(value).success)).toEqual([])
    },
  )
})
