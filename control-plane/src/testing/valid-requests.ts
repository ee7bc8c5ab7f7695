import type { OperationId } from '@parley/contract'
import { newAgent, publishedAgent, type RequestParts, type World } from './request-world.ts'
import { newSuite, newTestRun, newTrial, SUITE_BODY, testRunBody } from './suite-requests.ts'

const SIP_PASSWORD = 'correct horse battery staple'

export async function newSecret(world: World) {
  const secret_id = world.fresh('secret')
  await world.call('secrets.put', { params: { secret_id }, body: { kind: 'sip_auth', value: SIP_PASSWORD } })
  return secret_id
}

async function newInvitation(world: World): Promise<string> {
  const body = { email: `${world.fresh('person')}@example.com`, role: 'member' }
  return (await world.call('team.invite', { body })).invitation_id
}

async function trunkBody(world: World) {
  return {
    trunk_id: world.fresh('trunk'),
    name: 'Carrier',
    provider: 'generic_sip',
    termination_uri: 'sbc.example.com',
    auth_username: 'parley',
    auth_secret: { id: await newSecret(world), version: '1' },
    inbound: true,
  }
}

export async function newTrunk(world: World) {
  const body = await trunkBody(world)
  await world.call('trunks.create', { body })
  return body.trunk_id
}

let lastNumber = 10_000

export async function newNumber(world: World) {
  const phone_number = `+1202555${++lastNumber}`
  const made = await world.call('numbers.import', { body: { phone_number, trunk_id: await newTrunk(world) } })
  return String(made.number_id)
}

/** The body of a request that creates a chat with a new agent. */
export async function chatBody(world: World) {
  const { agent_id } = await publishedAgent(world, 'cloud_chat')
  return {
    agent_id,
    version: 0,
    channel: 'cloud',
    mode: 'chat',
    dynamic_variables: { name: 'Ada' },
    metadata: { n: 1 },
  }
}

export async function newChat(world: World): Promise<string> {
  return String((await world.call('runs.create', { body: await chatBody(world) })).run_id)
}

/** The body of a request that creates a call from a new number. */
export async function callBody(world: World) {
  const from = `+1202555${++lastNumber}`
  await world.call('numbers.import', { body: { phone_number: from, trunk_id: await newTrunk(world) } })
  const { agent_id } = await publishedAgent(world)
  return { agent_id, channel: 'phone', mode: 'outbound', to: '+14155552671', from }
}

/** Other tests of the same environment change its daily limit of calls. */
const MAX_TRIES = 5

/** A call that a process owns. */
async function newCall(world: World): Promise<string> {
  const body = await callBody(world)
  for (let tries = 1; ; tries++)
    try {
      await world.call('call_limits.update', { body: { daily_limit: null } })
      const { run_id } = await world.call('runs.create', { body })
      await world.own(String(run_id))
      return String(run_id)
    } catch (error) {
      if (tries === MAX_TRIES || !String(error).includes('daily_call_limit')) throw error
    }
}

/** What a browser offers that only receives audio. */
export const LISTENER_OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'a=mid:0',
  'a=recvonly',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:0123456789abcdef0123456789',
  'a=fingerprint:sha-256 00:11',
  'a=rtpmap:111 opus/48000/2',
  '',
].join('\r\n')

async function newKey(world: World) {
  const made = await world.call('keys.create', { body: { name: 'of a test', role: 'viewer' } })
  return String(made.key_id)
}

async function siteKey(world: World) {
  const { agent_id } = await newAgent(world)
  const origins = ['https://clinic.example', 'http://localhost:8000']
  return { name: 'front page', agent_id, origins, concurrent_limit: 2, daily_limit: 50 }
}

async function alertRule(world: World) {
  await world.call('secrets.put', {
    params: { secret_id: 'alert_webhook' },
    body: { kind: 'webhook_signing', value: 'a secret of alerts' },
  })
  const destination = { kind: 'webhook', url: `https://${world.fresh('alerts')}.example.com/parley` }
  return { metric: 'spend_usd_per_hour', threshold: '12.5', enabled: true, destination }
}

async function newAlert(world: World): Promise<string> {
  const { rule } = await world.call('alerts.create', { body: { rule: await alertRule(world) } })
  return String(rule.id)
}

async function exported(world: World) {
  const { agent_id } = await newAgent(world)
  const {
    warnings: _,
    config,
    ...rest
  } = await world.call('agents.export', {
    params: { agent_id },
    query: { draft: true },
  })
  return { ...rest, config: { ...config, recording: { required: true, channels: 'dual' } } }
}

export const EMBEDDING_MODEL = { model_id: 'near-embedding-1', provider: 'near', tier: 'frontier' }
const DOCUMENT = { title: 'Parking', text: '# Parking\n\nParking is free.', media_type: 'text/markdown' }

/** For each operation a request that is answered 2xx, on new resources. */
export const VALID_REQUESTS: { readonly [Id in OperationId]: (world: World) => Promise<RequestParts> } = {
  'knowledge.get': async () => ({}),
  'knowledge.configure': async () => ({ body: { model_identity: EMBEDDING_MODEL } }),
  'knowledge.reembed': async world => {
    await world.call('knowledge.configure', { body: { model_identity: EMBEDDING_MODEL } })
    return { body: {} }
  },
  'knowledge.documents_list': async () => ({ query: { limit: 5 } }),
  'knowledge.documents_create': async () => ({ body: { ...DOCUMENT, source_url: 'https://example.com/parking' } }),
  'knowledge.documents_delete': async world => {
    const { document_id } = await world.call('knowledge.documents_create', { body: DOCUMENT })
    return { params: { document_id } }
  },
  'knowledge.search': async () => ({ body: { query: 'Where do I park?', top_k: 3, min_score: 0.1 } }),
  'environments.list': async () => ({}),
  'environments.ensure_sandbox': async () => ({ body: {} }),
  'keys.list': async () => ({ query: { limit: 5 } }),
  'keys.create': async () => ({
    body: { name: 'ci', role: 'member', can_dial: true, expires_at: '2100-01-01T00:00:00Z' },
  }),
  'keys.revoke': async world => ({ params: { key_id: await newKey(world) } }),
  'keys.rotate': async world => ({ params: { key_id: await newKey(world) }, body: { overlap_seconds: 60 } }),
  'site_keys.list': async () => ({ query: { limit: 5 } }),
  'site_keys.create': async world => ({ body: await siteKey(world) }),
  'site_keys.revoke': async world => {
    const { site_key_id } = await world.call('site_keys.create', { body: await siteKey(world) })
    return { params: { site_key_id } }
  },
  'secrets.list': async () => ({ query: { limit: 5 } }),
  'secrets.put': async world => ({
    params: { secret_id: world.fresh('secret') },
    body: { kind: 'http_auth', value: 'a token' },
  }),
  'secrets.delete': async world => ({ params: { secret_id: await newSecret(world) }, query: { force: false } }),
  'provider_keys.list': async () => ({ query: { limit: 5 } }),
  'provider_keys.put': async () => ({
    params: { provider: 'openai_compatible' },
    body: { key: 'a-key-of-the-service', endpoint: 'https://models.example/v1' },
  }),
  'provider_keys.delete': async world => {
    await world.call('provider_keys.put', { params: { provider: 'openai' }, body: { key: 'a-key-of-openai' } })
    return { params: { provider: 'openai' } }
  },
  'team.list': async () => ({}),
  'team.invite': async world => ({ body: { email: `${world.fresh('person')}@example.com`, role: 'viewer' } }),
  'team.invite_revoke': async world => ({ params: { invitation_id: await newInvitation(world) } }),
  'team.invite_resend': async world => ({ params: { invitation_id: await newInvitation(world) }, body: {} }),
  'team.remove': async world => ({ params: { user_id: await world.member() } }),
  'team.set_role': async world => ({ params: { user_id: await world.member() }, body: { role: 'viewer' } }),
  'tenant_settings.get': async () => ({}),
  'tenant_settings.update': async world => ({
    body: {
      display_name: 'Clinic',
      retention: {
        recording_days: 30,
        transcript_days: 60,
        document_days: null,
        expected_version: (await world.call('tenant_settings.get', {})).retention.version,
      },
    },
  }),
  'audit.list': async () => ({ query: { limit: 5, after: '2020-01-01T00:00:00Z', before: '2100-01-01T00:00:00Z' } }),
  'agents.list': async () => ({ query: { q: 'a', channel: 'phone', sort: 'name_asc', limit: 5 } }),
  'agents.create': async world => ({
    body: { template: 'cloud_chat', name: 'Ada', agent_id: world.fresh('agent'), language: 'es' },
  }),
  'agents.get': async world => ({ params: { agent_id: (await newAgent(world)).agent_id } }),
  'agents.delete': async world => ({ params: { agent_id: (await newAgent(world)).agent_id } }),
  'agents.clone': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    body: { name: 'Bea', agent_id: world.fresh('agent'), version: 0 },
  }),
  'agents.import': async world => ({
    body: {
      reference: { tenant_id: world.tenantId, kind: 'agent', id: world.fresh('agent') },
      ...(await exported(world)),
    },
  }),
  'agents.import_inspect': async world => ({ body: await exported(world) }),
  'agents.export': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    query: { version: 0 },
  }),
  'drafts.get': async world => ({ params: { agent_id: (await newAgent(world)).agent_id } }),
  'drafts.edit_schema': async () => ({ params: { type: 'flow.node.put' } }),
  'drafts.edit': async world => {
    const { agent_id, ...draft } = await newAgent(world)
    return { params: { agent_id }, body: { ...draft, edits: [{ type: 'agent.name', name: 'Bea' }] } }
  },
  'drafts.discard': async world => {
    const { agent_id, ...query } = await newAgent(world)
    return { params: { agent_id }, query }
  },
  'drafts.open': async world => {
    const { agent_id, ...query } = await publishedAgent(world)
    await world.call('drafts.discard', { params: { agent_id }, query })
    return { params: { agent_id }, body: { version: 0 } }
  },
  'drafts.validate': async world => {
    const { agent_id, ...body } = await newAgent(world)
    return { params: { agent_id }, body }
  },
  'publications.list': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    query: { limit: 5 },
  }),
  'publications.publish': async world => {
    const { agent_id, ...draft } = await newAgent(world)
    return { params: { agent_id }, body: { ...draft, test: false } }
  },
  'publications.get': async world => ({ params: { agent_id: (await publishedAgent(world)).agent_id, version: 0 } }),
  'publications.set_head': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    body: { version: 0, expected_version: 0 },
  }),
  'actions.list': async () => ({ query: { channel: 'phone', invocation: 'flow_node' } }),
  'models.list': async () => ({ query: { kind: 'chat', ready: true, limit: 5 } }),
  'voices.preview': async () => ({
    body: { voice_id: 'bea', model: 'near-1', language: 'en', speed: 1, expressiveness: 0.5 },
  }),
  'voices.list': async () => ({ query: { role: 'tts', language: 'en', provider: 'simulated', limit: 5 } }),
  'trunks.list': async () => ({ query: { limit: 5 } }),
  'trunks.create': async world => ({ body: await trunkBody(world) }),
  'trunks.get': async world => ({ params: { trunk_id: await newTrunk(world) } }),
  'trunks.update': async world => ({
    params: { trunk_id: await newTrunk(world) },
    body: { name: 'Other carrier', termination_uri: 'sbc2.example.com', inbound: false },
  }),
  'trunks.delete': async world => ({ params: { trunk_id: await newTrunk(world) } }),
  'numbers.list': async world => ({ query: { trunk_id: await newTrunk(world), limit: 5 } }),
  'numbers.import': async world => ({
    body: { phone_number: `+1202555${++lastNumber}`, trunk_id: await newTrunk(world), name: 'Front fixture' },
  }),
  'numbers.assign': async world => ({
    params: { number_id: await newNumber(world) },
    body: { agent_id: (await publishedAgent(world)).agent_id, version: 0 },
  }),
  'numbers.release': async world => ({ params: { number_id: await newNumber(world) } }),
  'call_limits.get': async () => ({}),
  'call_limits.update': async () => ({ body: { daily_limit: 1_000_000 } }),
  'runs.list': async () => ({
    query: {
      agent_id: 'ada',
      channel: 'phone',
      state: 'completed',
      version: 0,
      test: false,
      successful: true,
      limit: 5,
      after: '2020-01-01T00:00:00Z',
      before: '2100-01-01T00:00:00Z',
      disposition: 'completed,busy',
      contact: 'human,ivr',
      test_run_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
    },
  }),
  'runs.create': async world => ({ body: await chatBody(world) }),
  'runs.get': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.update': async world => ({
    params: { run_id: await newCall(world) },
    body: { override_dynamic_variables: { name: 'Bea' }, metadata: { n: 2 } },
  }),
  'runs.cancel': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.message': async world => ({ params: { run_id: await newChat(world) }, body: { text: 'Hello?' } }),
  'runs.listen': async world => ({ params: { run_id: await newCall(world) }, body: { offer: LISTENER_OFFER } }),
  'runs.listener': async world => {
    const run_id = await newCall(world)
    const { listener_id } = await world.call('runs.listen', { params: { run_id }, body: { offer: LISTENER_OFFER } })
    return { params: { run_id, listener_id } }
  },
  'runs.timeline': async world => ({ params: { run_id: await newChat(world) }, query: { limit: 5 } }),
  'runs.effects': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.replay': async world => ({
    params: { run_id: await world.recordedRun(await newChat(world)) },
    body: { after_change: 'stop' },
  }),
  'runs.ladder': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.transcript': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.recording': async world => ({ params: { run_id: await newChat(world) } }),
  'test_suites.create': async world => ({ body: { ...SUITE_BODY, name: world.fresh('suite') } }),
  'test_suites.list': async () => ({ query: { agent_id: 'ada', limit: 5 } }),
  'test_suites.get': async world => ({ params: { suite_id: await newSuite(world) } }),
  'test_suites.edit': async world => ({
    params: { suite_id: await newSuite(world) },
    body: { expected_revision: 1, edits: [{ op: 'set_name', name: 'Evenings' }] },
  }),
  'test_suites.delete': async world => ({
    params: { suite_id: await newSuite(world) },
    query: { expected_revision: 1 },
  }),
  'test_runs.create': async world => ({
    body: { ...(await testRunBody(world)), baseline_test_run_id: await newTestRun(world) },
  }),
  'test_runs.estimate': async world => ({ body: await testRunBody(world) }),
  'test_runs.list': async world => ({
    query: {
      agent_id: 'ada',
      version: 0,
      suite_id: await newSuite(world),
      purpose: 'manual',
      state: 'queued',
      limit: 5,
    },
  }),
  'test_runs.get': async world => ({ params: { test_run_id: await newTestRun(world) } }),
  'test_runs.results': async world => ({ params: { test_run_id: await newTestRun(world) }, query: { limit: 5 } }),
  'test_runs.trial': async world => ({ params: await newTrial(world) }),
  'test_runs.cancel': async world => ({ params: { test_run_id: await newTestRun(world) } }),
  'usage.summary': async () => ({
    query: {
      group_by: 'agent',
      from: '2026-01-01T00:00:00Z',
      to: '2026-12-01T00:00:00Z',
      agent_id: 'ada',
      purpose: 'billable',
      contact: 'voicemail,ivr',
      limit: 5,
    },
  }),
  'usage.rate_card': async () => ({}),
  'budgets.get': async () => ({}),
  'budgets.update': async world => ({
    body: {
      cap_usd: '1000000.50',
      expected_policy_id: (await world.call('budgets.get', {})).policy_id,
    },
  }),
  'alerts.list': async () => ({}),
  'alerts.create': async world => ({ body: { rule: await alertRule(world) } }),
  'alerts.update': async world => ({
    params: { alert_id: await newAlert(world) },
    body: {
      expected_revision: 1,
      rule: {
        metric: 'call_error_rate_24h',
        threshold: '0.05',
        enabled: true,
        destination: { action: 'replace', value: { kind: 'webhook', url: 'https://alerts.example.com/parley' } },
      },
    },
  }),
  'alerts.delete': async world => ({ params: { alert_id: await newAlert(world) }, query: { expected_revision: 1 } }),
  'alerts.acknowledge': async world => {
    const alert_id = await newAlert(world)
    return {
      params: { alert_id },
      body: { expected_revision: 1, delivery_id: await world.uncertainDelivery(alert_id) },
    }
  },
  'alert_destinations.get': async () => ({}),
  'alert_destinations.update': async world => {
    const { chat, paging } = (await world.call('alert_destinations.get', {})).destinations
    return {
      body: {
        chat: { expected_revision: chat.revision, webhook_url: 'https://chat.example.com/hooks/1' },
        paging: { expected_revision: paging.revision, routing_key: 'R0' },
      },
    }
  },
}
