const uuid = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const at = '2026-01-01T00:00:00.000Z'
const digest = `sha256:${'0'.repeat(64)}`
const identity = { model_id: 'm', provider: 'p', tier: 'frontier' }
const agentRef = { tenant_id: uuid, kind: 'agent', id: 'ada' }
const suiteHead = {
  suite_id: uuid,
  agent_id: 'ada',
  name: 'Mornings',
  revision: 1,
  digest,
  source: { kind: 'runs', run_ids: [uuid] },
  created_by: { owner_id: uuid, environment: 'production', kind: 'api_key', id: uuid },
  created_at: at,
  updated_at: at,
}
const testRun = {
  owner_id: uuid,
  environment: 'production',
  tenant_id: uuid,
  test_run_id: uuid,
  agent_id: 'ada',
  publication: { agent_id: 'ada', version: 0, digest },
  purpose: 'manual',
  suites: [{ suite_id: uuid, revision: 1, digest }],
  state: 'completed',
  verdict: 'passed',
  progress: { trials: 2, admitted: 2, settled: 2 },
  summary: {
    cases: 1,
    passed: 1,
    flaky_passed: 0,
    failed: 0,
    errored: 0,
    invalid: 0,
    trials: 2,
    regressed: 0,
    fixed: 0,
    guard_events: 0,
  },
  baseline_test_run_id: null,
  judge_model: identity,
  cost: { estimated_usd: 0.02, measured_usd: 0.01 },
  created_by: { owner_id: uuid, environment: 'production', kind: 'api_key', id: uuid },
  created_at: at,
  finished_at: at,
}
const trialHead = {
  trial_id: uuid,
  trial: 1,
  state: 'completed',
  verdict: 'failed',
  run_id: uuid,
  duration_ms: 20,
  failed_assertions: ['ends'],
}
const caseResult = {
  suite_id: uuid,
  case_id: 'books',
  name: 'Books',
  blocking: true,
  verdict: 'failed',
  fault: null,
  flaky: false,
  change: 'regressed',
  trials: [trialHead],
  predecessor_trials: [],
}
const trial = {
  ...trialHead,
  test_run_id: uuid,
  version: 1,
  suite_id: uuid,
  case_id: 'books',
  assertions: [{ id: 'ends', type: 'final_node', passed: false, message: 'it ended elsewhere' }],
  guard_events: [{ kind: 'unmocked_action', action_id: 'book', offset_ms: 12 }],
  changes: [{ turn: 1, kind: 'node', before: 'booked', after: 'trouble' }],
  turns: [
    { turn: 0, source: 'replayed' },
    { turn: 1, source: 'simulated' },
  ],
  transcript: null,
  started_at: at,
  finished_at: at,
  error: null,
}
const passRate = { passed: 9, trials: 10, low: 0.6, high: 0.98 }
export const gate = {
  state: 'overridden',
  test_run_id: uuid,
  candidate: 1,
  predecessor: 0,
  evidence: {
    method: 'sequential',
    reason: 'worse',
    pairs: 10,
    trials: 20,
    candidate: passRate,
    predecessor: passRate,
    difference: { estimate: 0, low: -0.3, high: 0.3 },
    measured_usd: null,
  },
  override: { reason: 'An incident', by: { owner_id: uuid, environment: 'production', kind: 'api_key', id: uuid }, at },
}
const testSuite = { ...suiteHead, cases: [] }
const testSuiteItem = { ...suiteHead, case_count: 1 }
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
const noCalls = { calls: 0, answered: 0, asr: null, acd_ms: null, failures: [] }
const trunkHealth = {
  window_s: 3600,
  outbound: { ...noCalls, failures: [{ sip_status: null, calls: 1 }], post_dial_delay_ms: { p50: 1, p95: 2 } },
  inbound: noCalls,
  last_success_at: null,
  last_failure_at: at,
  ping: {
    state: 'reachable',
    engines: 1,
    engines_without_answer: 0,
    checked_at: at,
    last_success_at: at,
    last_failure_at: null,
    targets: [{ transport: 'tls', address: '192.0.2.1', port: 5061, sip_status: 200, error: null, round_trip_ms: 12 }],
  },
  registration: {
    state: 'registered',
    sip_status: 200,
    detail: 'REGISTER answered 200 OK',
    expires_at: at,
    updated_at: at,
  },
}
const number = {
  number_id: uuid,
  phone_number: '+15551234567',
  trunk_id: 'trunk-1',
  name: null,
  assignment: { agent_id: 'ada', version: null },
  inbound: 'token',
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
  listening_enabled: true,
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
const percentiles = { p50: 1, p90: 2.5, p95: 3 }
const sha256 = '0'.repeat(64)
const run = {
  owner_id: uuid,
  environment: 'production',
  tenant_id: uuid,
  run_id: uuid,
  agent_id: 'ada',
  publication: { agent_id: 'ada', version: 0, digest },
  plan_schema_version: 1,
  channel: 'phone',
  mode: 'outbound',
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'completed', detail: null, sip_status: 200, ended_by: 'agent' },
  disposition: 'completed',
  trigger: { kind: 'api', idempotency_key_sha256: sha256 },
  created_at: at,
  started_at: at,
  ended_at: at,
  connected_ms: 1000,
  from_number: '+15551234567',
  to_number: '+15557654321',
  contact: 'human',
  answered_by: 'human',
  successful: true,
  dynamic_variables: {},
  metadata: {},
  latency: { e2e: percentiles, endpointing: null, stt: null, llm: null, tts: null, engine: null },
  analysis: { summary: null, sentiment: 'positive', successful: true, custom: {}, model: identity, completed_at: at },
  test: false,
  caller_identity: { verification: 'passed', attestation: 'A', origid: null },
  quality: {
    jitter_ms: 1.5,
    jitter_max_ms: 4,
    loss: 0,
    mos: 4.2,
    mos_intervals: [4.2],
    round_trip_ms: 40.5,
    far_end: { loss: 0, jitter_ms: 1.5, jitter_max_ms: 4 },
    media_conflicts: 0,
  },
}
const utterance = {
  index: 0,
  role: 'agent',
  text: 'Hello.',
  segment_id: 's1',
  observed_offset_ms: 12,
  interrupted: false,
  start_ms: 1.5,
  end_ms: 2.5,
  node_id: 'n',
}
const contentRef = { artifact_id: uuid, sha256, byte_size: 1, media_type: 'audio/wav', expires_at: null }
const effect = {
  effect_id: uuid,
  run_id: uuid,
  attempt_id: null,
  effect_key: 'effect_1',
  action: { id: 'call.dial', version: 1 },
  effect_kind: 'sip_dial',
  node_id: null,
  ordinal: null,
  state: 'succeeded',
  decision: { decision: 'allow', reason: null, policy_version: '1' },
  send_attempts: 1,
  receipts: [{ kind: 'sip_dial', participant_id: 'p', sip_call_id: null }],
  error_code: null,
  created_at: at,
  settled_at: at,
}
const place = { seq: 1, at, offset_ms: null }
const TIMELINE = [
  { ...place, kind: 'state', state: 'running', phone_state: 'active' },
  {
    ...place,
    kind: 'utterance',
    index: 0,
    role: 'user',
    text: 'Hi',
    interrupted: false,
    start_ms: 1,
    end_ms: 2,
    node_id: 'n',
  },
  { ...place, kind: 'node', node_id: 'n', from_node_id: null, edge_id: null, cause: 'start' },
  { ...place, kind: 'digits', direction: 'in', digits: '1' },
  {
    ...place,
    kind: 'knowledge',
    node_id: 'n',
    generation_id: uuid,
    items: [{ document_id: uuid, title: 'Parking', chunk_index: 0, score: 0.5 }],
    search_ms: 12,
    waited_ms: 0,
  },
]
const update = {
  update_id: uuid,
  run_id: uuid,
  revision: 1,
  status: 'applied',
  acknowledged_at: at,
  deadline: at,
  completed_at: at,
  reason: null,
  applied: true,
}
const usageRow = {
  key: 'ada',
  runs: 1,
  connected_ms: 1,
  llm_input_tokens: 1,
  llm_output_tokens: null,
  stt_ms: 1,
  tts_characters: 1,
  cost: { currency: 'USD', amount: '0.01', completeness: 'complete' },
}
const rateCard = {
  configured: true,
  rate_card_id: 'r',
  currency: 'USD',
  effective_at: at,
  reserve_usd: { phone: '1', web: '1', cloud: '1' },
  rates: [{ meter: 'stt_ms', per: 1, price_usd: '0.1', channel: null, provider: null, model_id: null }],
}
const budget = {
  configured: true,
  budget_id: 'b',
  policy_id: 'p',
  period: { from: at, to: at },
  cap_usd: '1',
  spent_usd: '1',
  remaining_usd: '-1.5',
  exceeded: true,
  unresolved_runs: 0,
  as_of: at,
}
const scope = { owner_id: uuid, environment: 'production', tenant_id: uuid }
const window = { from: at, to: at }
const declared = {
  basis: 'declared_estimate',
  currency: 'USD',
  coverage: 'recorded_measurements_only',
  observation_count: 1,
}
/** Evidence of each kind. */
const alertEvidence = [
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
const ruleWith = (evidence: unknown) => ({ ...alertRule, evaluation: { ...alertRule.evaluation, evidence } })
const alertDestinations = {
  scope,
  destinations: { chat: { revision: uuid, configured: true }, paging: { revision: null, configured: false } },
}
export const page = (item: unknown) => ({ items: [item], next_cursor: null })

/** One valid response body for every response schema. */
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
  ['publications.publish', { publication, gate, warnings: [] }],
  ['actions.list', { items: [descriptor] }],
  ['models.list', page(model)],
  ['voices.list', page(voice)],
  ['voices.preview', { audio_base64: 'AAAA', media_type: 'audio/mpeg', text: 'x' }],
  ['trunks.get', { ...trunk, health: trunkHealth }],
  ['numbers.list', page(number)],
  ['call_limits.get', limit],
  ['runs.get', run],
  ['runs.list', page(run)],
  ['runs.update', { run_id: uuid, update }],
  ['runs.message', { run_id: uuid, state: 'running', utterances: [utterance] }],
  ['runs.timeline', { run_id: uuid, trace_id: '0'.repeat(32), items: TIMELINE, next_cursor: null }],
  ['runs.listen', { listener_id: uuid, run_id: uuid, state: 'waiting', answer: null, refusal: null }],
  ['runs.listener', { listener_id: uuid, run_id: uuid, state: 'answered', answer: 'v=0', refusal: null }],
  ['runs.effects', { items: [effect] }],
  ['runs.replay', testRun],
  [
    'runs.ladder',
    {
      items: [
        {
          at,
          direction: 'in',
          transport: 'tls',
          source: '192.0.2.1:5061',
          destination: '192.0.2.2:5061',
          message: 'BYE sip:parley@192.0.2.2 SIP/2.0\r\n\r\n',
        },
      ],
      truncated: false,
    },
  ],
  [
    'runs.transcript',
    {
      run_id: uuid,
      state: 'partial',
      utterances: [utterance],
      checkpoint: { segments: 1, last_completed_turn_offset_ms: 0, published_at: at },
      content: contentRef,
    },
  ],
  [
    'runs.recording',
    {
      run_id: uuid,
      state: 'ready',
      url: 'http://localhost/recordings/x',
      url_expires_at: null,
      media_url: 'http://localhost/recordings/x/audio',
      media_url_expires_at: at,
      content: contentRef,
    },
  ],
  [
    'usage.summary',
    {
      window: { from: at, to: at },
      group_by: 'agent',
      purpose: 'billable',
      rows: [usageRow],
      completeness: 'complete',
      next_cursor: null,
    },
  ],
  ['usage.rate_card', rateCard],
  ['budgets.get', budget],
  ['test_suites.get', testSuite],
  ['test_suites.list', page(testSuiteItem)],
  ['alerts.list', { scope, items: [alertRule] }],
  ['alerts.list', { scope, items: alertEvidence.map(ruleWith) }],
  ['alerts.create', { scope, rule: alertRule }],
  ['alert_destinations.get', alertDestinations],
  ['test_runs.get', testRun],
  ['test_runs.results', page(caseResult)],
  ['test_runs.trial', trial],
  ['test_runs.estimate', { cases: 1, trials: 2, estimated_usd: 0.02, estimated_minutes: 0.5, warnings: [] }],
]
