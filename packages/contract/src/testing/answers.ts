const uuid = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const at = '2026-01-01T00:00:00.000Z'
const digest = `sha256:${'0'.repeat(64)}`
const agentRef = { tenant_id: uuid, kind: 'agent', id: 'ada' }
export const head = { version: 0, digest, channels: ['phone'], languages: ['en'], published_at: at }
export const lastRun = { run_id: uuid, created_at: at, state: 'completed', disposition: null }
export const agent = {
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
export const content = {
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
export const publication = {
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
export const key = {
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
export const audit = {
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
export const diagnostic = {
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
export const page = (item: unknown) => ({ items: [item], next_cursor: null })

/** One answer of every shape. */
export const ANSWERS: [string, Record<string, unknown>][] = [
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
