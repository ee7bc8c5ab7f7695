import { describe, expect, it } from 'vitest'
import { operationOf } from './testing/requests.ts'

const uuid = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const at = '2026-01-01T00:00:00.000Z'
const digest = `sha256:${'0'.repeat(64)}`
const agentRef = { tenant_id: uuid, kind: 'agent', id: 'ada' }
const head = { version: 0, digest, channels: ['phone'], languages: ['en'], published_at: at }
const lastRun = { run_id: uuid, created_at: at, state: 'completed', disposition: null }
const agent = {
  ref: agentRef,
  name: 'Ada',
  head,
  draft: { draft_id: uuid, revision: 1, base_version: null, published_revision: null },
  created_at: at,
  updated_at: at,
  last_run: lastRun,
}
const draftResult = {
  agent: agentRef,
  draft_id: uuid,
  revision: 1,
  base_version: null,
  published_revision: null,
  updated_at: at,
}
const identity = { model_id: 'm', provider: 'p', tier: 'frontier' }
const content = {
  name: 'Ada',
  settings: { voiceSpeed: 1 },
  providers: {
    stt: { provider: 'p', model: 'm' },
    llm: { model: identity, provider: 'hosted' },
    tts: { provider: 'p', model: 'm' },
  },
  telephony: { trunkId: 't', from: null },
  recording: { required: true, channels: 'dual', signed_urls: true },
  notification: null,
  inbound_context: null,
  knowledge: null,
  analysis: null,
  actions: [],
  flow: {
    global_prompt: '',
    start_node_id: null,
    start_speaker: 'agent',
    begin_after_user_silence_ms: null,
    default_dynamic_variables: {},
    nodes: [],
    components: [],
  },
}
const source = { kind: 'agent_import', agent_version: 1, flow_id: null, flow_version: null, unplaced: {} }
const publication = {
  ref: { agent_id: 'ada', version: 0, digest },
  plan_schema_version: 1,
  channels: ['phone'],
  languages: ['en'],
  source_kind: 'api',
  published_at: at,
  published_by: { owner_id: uuid, environment: 'production', kind: 'api_key', id: uuid },
  is_head: true,
  test: false,
}
const key = {
  key_id: uuid,
  name: 'ci',
  role: 'member',
  can_dial: false,
  prefix: 'parley_live_abcdef',
  created_at: at,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
}
const environment = {
  environment: 'production',
  tenant_id: uuid,
  name: 'Demo',
  display_name: null,
  admission_enabled: true,
  concurrent_capacity: null,
  created_at: at,
}
const trunk = {
  trunk_id: 'trunk-1',
  name: 'Carrier',
  provider: 'generic_sip',
  termination_uri: 'sip.example.com',
  auth_username: null,
  auth_secret: null,
  inbound: false,
  inbound_sip_uri: null,
  created_at: at,
  updated_at: at,
}
const number = {
  number_id: uuid,
  phone_number: '+15551234567',
  trunk_id: 'trunk-1',
  name: null,
  assignment: { agent_id: 'ada', version: null },
  created_at: at,
  updated_at: at,
}
const secret = {
  secret_id: 's',
  kind: 'sip_auth',
  version: '1',
  versions: [{ version: '1', created_at: at }],
  created_at: at,
  updated_at: at,
}
const settings = {
  name: 'Demo',
  display_name: null,
  retention: { recording_days: 90, transcript_days: 365, document_days: null, source: 'platform_default', version: 0 },
}
const audit = {
  audit_id: uuid,
  occurred_at: at,
  principal: { owner_id: uuid, environment: 'production', kind: 'system', id: 'staff' },
  action: 'keys.revoke',
  resource: { tenant_id: uuid, kind: 'operation', id: `keys/${uuid}` },
  outcome: 'allowed',
  request_id: null,
}
const limit = { daily_limit: null, calls_last_24h: 3, remaining: null, as_of: at }
const descriptor = {
  id: 'http.request',
  version: 1,
  name: 'HTTP request',
  description: '',
  channels: ['cloud', 'phone', 'web'],
  invocations: ['model_tool'],
  effect_kind: 'http',
  input_schema: {},
  output_schema: {},
}
const model = {
  model: identity,
  name: 'm',
  kind: 'chat',
  provider: 'hosted',
  ready: false,
  reason: 'no_key',
  context_tokens: null,
  dimension: null,
  tools: true,
}
const voice = {
  role: 'stt',
  provider: 'p',
  model: 'm',
  voice_id: null,
  name: 'v',
  languages: ['en'],
  gender: null,
  ready: true,
  reason: null,
}
const diagnostic = {
  code: 'edge_dangling',
  path: '/flow/nodes/0',
  message: 'An edge leads nowhere',
  severity: 'error',
  fixes: [
    {
      id: 'f',
      label: 'Remove it',
      edits: [{ type: 'flow.edge.remove', component_id: null, node_id: 'n', edge_id: 'e' }],
    },
  ],
}
const inspection = {
  agent_name: 'Ada',
  agent_version: null,
  flow_id: null,
  flow_version: null,
  languages: ['en'],
  node_types: { end: 1 },
  model_bindings: [{ path: '/flow/model_choice', source_model: null, bound: false }],
  diagnostics: [diagnostic],
}
const exported = {
  agent_version: 0,
  agent: {},
  flow: {},
  config: { providers: content.providers, recording: { required: false, channels: 'dual' } },
  model_bindings: {},
  warnings: [],
}
const page = (item: unknown) => ({ items: [item], next_cursor: null })

/** One answer of every shape. */
const ANSWERS: [string, Record<string, unknown>][] = [
  ['environments.list', { items: [environment], selected: 'production' }],
  ['environments.ensure_sandbox', { environment, key: { ...key, secret: 's'.repeat(16) } }],
  ['keys.list', page(key)],
  ['keys.create', { ...key, secret: 's'.repeat(256) }],
  ['keys.revoke', key],
  ['secrets.list', page(secret)],
  ['secrets.put', secret],
  ['tenant_settings.get', settings],
  ['audit.list', page(audit)],
  [
    'agents.list',
    {
      agents: [agent],
      issues: [{ target: { owner_id: uuid, environment: 'production', tenant_id: null }, message: 'x' }],
      next_cursor: null,
    },
  ],
  ['agents.get', agent],
  ['agents.import', { outcome: 'create_agent', draft: draftResult, warnings: [diagnostic] }],
  ['agents.import_inspect', inspection],
  ['agents.export', exported],
  ['drafts.get', { ...draftResult, ...content, source }],
  ['drafts.edit', draftResult],
  ['drafts.validate', { revision: 1, diagnostics: [diagnostic] }],
  ['publications.list', page(publication)],
  ['publications.publish', { publication, warnings: [] }],
  ['actions.list', { items: [descriptor] }],
  ['models.list', page(model)],
  ['voices.list', page(voice)],
  ['trunks.get', trunk],
  ['numbers.list', page(number)],
  ['call_limits.get', limit],
]

const takes = (id: string, answer: unknown) => operationOf(id).output.safeParse(answer).success

describe('an answer', () => {
  it.each(ANSWERS)('of %s is whole: each field present, none unknown', (id, answer) => {
    expect(operationOf(id).output.parse(answer)).toEqual(answer)
    expect(takes(id, { ...answer, unknown_member: 1 })).toBe(false)
    for (const name of Object.keys(answer)) {
      const { [name]: _, ...without } = answer
      expect([name, takes(id, without)]).toEqual([name, false])
    }
  })

  it('of an agent says null where there is nothing', () => {
    expect(takes('agents.get', { ...agent, head: null, draft: null, last_run: null })).toBe(true)
    expect(takes('agents.get', { ...agent, head: { ...head, channels: [] } })).toBe(false)
    expect(takes('agents.get', { ...agent, last_run: { ...lastRun, state: 'sleeping' } })).toBe(false)
    expect(takes('agents.get', { ...agent, updated_at: '2026-01-01T00:00:00Z' })).toBe(false)
  })

  it('with an API key shows the secret at creation and rotation only', () => {
    expect(takes('keys.revoke', { ...key, secret: 's'.repeat(20) })).toBe(false)
    for (const length of [15, 257]) expect(takes('keys.create', { ...key, secret: 's'.repeat(length) })).toBe(false)
    for (const prefix of ['abc', 'x'.repeat(33)]) expect(takes('keys.revoke', { ...key, prefix })).toBe(false)
  })

  it('with a diagnostic keeps its bounds, and its fixes are edits', () => {
    const validate = (change: object) =>
      takes('drafts.validate', { revision: 1, diagnostics: [{ ...diagnostic, ...change }] })
    const [fix] = diagnostic.fixes
    expect(validate({ fixes: undefined })).toBe(true)
    expect(validate({ fixes: Array(8).fill(fix) })).toBe(true)
    expect(validate({ fixes: Array(9).fill(fix) })).toBe(false)
    expect(validate({ fixes: [{ ...fix, edits: [] }] })).toBe(false)
    expect(validate({ fixes: [{ ...fix, edits: [{ type: 'flow.start', component_id: null, node_id: 'n' }] }] })).toBe(
      true,
    )
    expect(validate({ fixes: [{ ...fix, edits: [{ type: 'no.such.edit' }] }] })).toBe(false)
    for (const [name, max] of [
      ['code', 128],
      ['path', 1024],
      ['message', 4096],
    ] as const) {
      expect(validate({ [name]: 'x'.repeat(max) })).toBe(true)
      expect(validate({ [name]: 'x'.repeat(max + 1) })).toBe(false)
    }
  })

  it('with an audit item names its action and its resource', () => {
    const item = (change: object) => takes('audit.list', page({ ...audit, ...change }))
    expect(item({ resource: null })).toBe(true)
    for (const action of ['', 'Keys.revoke', '1x', `a${'x'.repeat(128)}`]) expect(item({ action })).toBe(false)
    expect(item({ resource: { ...audit.resource, kind: 'team' } })).toBe(false)
    expect(item({ resource: { ...audit.resource, id: 'x'.repeat(513) } })).toBe(false)
    expect(item({ request_id: 'x'.repeat(257) })).toBe(false)
  })

  it('with a plan has every default filled in', () => {
    const draft = { ...content, source: null }
    const answer = (plan: object) => ({ publication, plan, draft, warnings: [] })
    const plan = { plan_schema_version: 1, ...content }
    expect(takes('publications.get', answer(plan))).toBe(false)
    const set = {
      voiceSpeed: 1,
      voiceTemperature: 1,
      volume: 1,
      language: 'en',
      responsiveness: 1,
      interruptionSensitivity: 1,
      backchannelFrequency: 0.8,
      enableBackchannel: false,
      normalizeForSpeech: false,
      openerWaitsForCallee: false,
      allowUserDtmf: true,
      allowDtmfInterruption: false,
      backchannelWords: [],
      boostedKeywords: [],
      reminderTriggerMs: 10_000,
      reminderMaxCount: 1,
      maxCallDurationMs: 3_600_000,
      endCallAfterSilenceMs: 600_000,
      ringDurationMs: 30_000,
      beginMessageDelayMs: 0,
      voicemail: { enabled: false, detectionTimeoutMs: 30_000, action: 'hangup' },
      ambientSound: 'none',
      ambientSoundVolume: 1,
      pronunciationDictionary: [],
      denoisingMode: 'noise-cancellation',
      sttMode: 'fast',
      userDtmfOptions: { digitLimit: null, terminationKey: null, timeoutMs: 3000 },
      channels: ['cloud', 'phone'],
      timezone: 'UTC',
      toolCallStrictMode: true,
      ivr: { enabled: false, action: 'hangup' },
      callScreening: { enabled: false, identity: '', purpose: '' },
      fallbackVoiceIds: [],
      vocabSpecialization: 'general',
    }
    expect(takes('publications.get', answer({ ...plan, settings: set }))).toBe(true)
    expect(takes('publications.get', answer({ ...plan, settings: set, source: null }))).toBe(false)
  })
})
