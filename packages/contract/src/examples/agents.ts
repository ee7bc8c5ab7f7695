import { agentRef, apiKey, at, atRevision, digest, type Examples, identity, page, uuid } from './values.ts'

/** A model of the simulated provider. */
const nearModel = { model_id: 'near-1', provider: 'near', tier: 'frontier' }
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
    stt: { provider: 'deepgram', model: 'nova-3' },
    llm: { model: identity, provider: 'hosted' },
    tts: { provider: 'deepgram', model: 'nova-3' },
  },
  telephony: { trunkId: 'trunk-1', from: null },
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
/** An agent in the source format, as an import takes it. */
const exportedBody = {
  agent_version: 0,
  flow: {
    nodes: [
      {
        id: 'greeting',
        name: '',
        type: 'conversation',
        edges: [
          {
            id: 'served',
            destination_node_id: 'goodbye',
            transition_condition: { type: 'prompt', prompt: 'They have no more questions, or want to end the call' },
          },
        ],
        instruction: { type: 'prompt', text: 'Say who you are and why you call, and answer their questions.' },
      },
      {
        id: 'goodbye',
        name: '',
        type: 'end',
        instruction: { type: 'prompt', text: 'Thank them and say goodbye.' },
        speak_during_execution: true,
      },
    ],
    components: [],
    global_prompt: '',
    start_node_id: 'greeting',
    start_speaker: 'agent',
    default_dynamic_variables: {},
    model_choice: { type: 'cascading', model: 'near-1', high_priority: false },
    tools: [],
  },
  agent: {
    agent_name: 'Ada',
    version: 0,
    channel: 'voice',
    response_engine: { type: 'conversation-flow', version: 0 },
    language: 'en',
    parley: { settings: { openerWaitsForCallee: true, channels: ['phone'] } },
  },
  model_bindings: { '/flow/model_choice': { model: nearModel } },
  config: {
    providers: {
      stt: { provider: 'near', model: 'near-1' },
      llm: { model: nearModel, provider: 'hosted' },
      tts: { provider: 'near', model: 'near-1', voiceId: 'bea' },
    },
    recording: { required: true, channels: 'dual' },
  },
}
const exported = { ...exportedBody, warnings: [] }
/** The JSON schema of the edit `agent.name`. */
export const nameEditSchema = {
  type: 'object',
  properties: { type: { type: 'string', const: 'agent.name' }, name: { type: 'string', minLength: 1, maxLength: 256 } },
  required: ['type', 'name'],
  additionalProperties: false,
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
  override: { reason: 'An incident', by: apiKey, at },
}
export const publication = {
  ref: { agent_id: 'ada', version: 0, digest },
  plan_schema_version: 1,
  channels: ['phone'],
  languages: ['en'],
  source_kind: 'api',
  published_at: at,
  published_by: apiKey,
  is_head: true,
  test: false,
}
/** Settings with every default filled in. */
export const plannedSettings = {
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
const suites = [{ suite_id: uuid, revision: 1, digest }]
const certificate = {
  content: {
    type: 'parley-release-certificate',
    format: 1,
    owner_id: uuid,
    environment: 'production',
    publication: { agent_id: 'ada', version: 0, digest },
    predecessor: null,
    gate: { suites: [uuid], maximumFalsePass: 0.05, maximumFalseBlock: 0.05, minimumEffect: 0.1 },
    suites,
    test_run_id: uuid,
    evidence: gate.evidence,
    issued_at: at,
  },
  key_id: 'release-1',
  signature: 'A'.repeat(86),
}
const draft = { ...draftResult, ...content, source }

export const agentExamples = {
  'agents.list': {
    answer: {
      agents: [agent],
      issues: [
        {
          target: { owner_id: uuid, environment: 'production', tenant_id: null },
          message: 'the environment has no workspace yet',
        },
      ],
      next_cursor: null,
    },
  },
  'agents.create': {
    body: { template: 'cloud_chat', name: 'Ada', agent_id: 'ada', language: 'es' },
    answer: { ...agent, head: null, last_run: null },
  },
  'agents.get': { answer: agent },
  'agents.delete': { answer: agent },
  'agents.clone': {
    body: { name: 'Bea', agent_id: 'bea', version: 0 },
    answer: { ...agent, ref: { ...agentRef, id: 'bea' }, name: 'Bea', head: null, last_run: null },
  },
  'agents.import': {
    body: { reference: agentRef, ...exportedBody },
    answer: { outcome: 'create_agent', draft: draftResult, warnings: [diagnostic] },
  },
  'agents.import_inspect': { body: exportedBody, answer: inspection },
  'agents.export': { answer: exported },
  'drafts.get': { answer: draft },
  'drafts.edit_schema': { answer: { type: 'agent.name', schema: nameEditSchema } },
  'drafts.edit': {
    body: { ...atRevision, edits: [{ type: 'agent.name', name: 'Bea' }] },
    answer: { ...draftResult, revision: 2 },
  },
  'drafts.discard': { answer: draftResult },
  'drafts.open': { body: { version: 0 }, answer: draft },
  'drafts.validate': { body: atRevision, answer: { revision: 1, diagnostics: [diagnostic] } },
  'publications.list': { answer: page(publication) },
  'publications.publish': { body: { ...atRevision, test: false }, answer: { publication, gate, warnings: [] } },
  'publications.get': {
    answer: {
      publication,
      gate,
      certificate,
      plan: { plan_schema_version: 1, ...content, settings: plannedSettings },
      draft: { ...content, source },
      warnings: [],
    },
  },
  'publications.set_head': { body: { version: 0, expected_version: 0 }, answer: agent },
} as const satisfies Examples
