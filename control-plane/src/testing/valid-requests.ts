import type { OperationId } from '@parley/contract'
import { EXAMPLES } from '@parley/contract/testing'
import { exampleBody, newAgent, publishedAgent, type RequestParts, type World } from './request-world.ts'
import { newSuite, newTestRun, newTrial, testRunBody } from './suite-requests.ts'

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
  const trunk_id = world.fresh('trunk')
  const auth_secret = { id: await newSecret(world), version: '1' }
  return { ...exampleBody('trunks.create', { auth_secret }), trunk_id }
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
  return { ...EXAMPLES['runs.create'].body, agent_id }
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
export const LISTENER_OFFER = EXAMPLES['runs.listen'].body.offer

async function newKey(world: World) {
  const made = await world.call('keys.create', { body: { name: 'of a test', role: 'viewer' } })
  return String(made.key_id)
}

async function siteKey(world: World) {
  const { agent_id } = await newAgent(world)
  return exampleBody('site_keys.create', { agent_id })
}

async function alertBody(world: World) {
  await world.call('secrets.put', {
    params: { secret_id: 'alert_webhook' },
    body: { kind: 'webhook_signing', value: 'a secret of alerts' },
  })
  const { rule } = EXAMPLES['alerts.create'].body
  const destination = { ...rule.destination, url: `https://${world.fresh('alerts')}.example.com/parley` }
  return exampleBody('alerts.create', { rule: { ...rule, destination } })
}

async function newAlert(world: World): Promise<string> {
  const { rule } = await world.call('alerts.create', { body: await alertBody(world) })
  return String(rule.id)
}

export const EMBEDDING_MODEL = EXAMPLES['knowledge.configure'].body.model_identity

/** For each operation a request that is answered 2xx, on new resources. */
export const VALID_REQUESTS: { readonly [Id in OperationId]: (world: World) => Promise<RequestParts> } = {
  'knowledge.get': async () => ({}),
  'knowledge.configure': async () => ({ body: exampleBody('knowledge.configure') }),
  'knowledge.reembed': async world => {
    await world.call('knowledge.configure', { body: exampleBody('knowledge.configure') })
    return { body: exampleBody('knowledge.reembed') }
  },
  'knowledge.documents_list': async () => ({ query: { limit: 5 } }),
  'knowledge.documents_create': async () => ({ body: exampleBody('knowledge.documents_create') }),
  'knowledge.documents_delete': async world => {
    const { document_id } = await world.call('knowledge.documents_create', {
      body: exampleBody('knowledge.documents_create'),
    })
    return { params: { document_id } }
  },
  'knowledge.search': async () => ({ body: exampleBody('knowledge.search') }),
  'environments.list': async () => ({}),
  'environments.ensure_sandbox': async () => ({ body: exampleBody('environments.ensure_sandbox') }),
  'keys.list': async () => ({ query: { limit: 5 } }),
  'keys.create': async () => ({ body: exampleBody('keys.create') }),
  'keys.revoke': async world => ({ params: { key_id: await newKey(world) } }),
  'keys.rotate': async world => ({ params: { key_id: await newKey(world) }, body: exampleBody('keys.rotate') }),
  'site_keys.list': async () => ({ query: { limit: 5 } }),
  'site_keys.create': async world => ({ body: await siteKey(world) }),
  'site_keys.revoke': async world => {
    const { site_key_id } = await world.call('site_keys.create', { body: await siteKey(world) })
    return { params: { site_key_id } }
  },
  'secrets.list': async () => ({ query: { limit: 5 } }),
  'secrets.put': async world => ({
    params: { secret_id: world.fresh('secret') },
    body: exampleBody('secrets.put'),
  }),
  'secrets.delete': async world => ({ params: { secret_id: await newSecret(world) }, query: { force: false } }),
  'provider_keys.list': async () => ({ query: { limit: 5 } }),
  'provider_keys.put': async () => ({
    params: { provider: 'openai_compatible' },
    body: exampleBody('provider_keys.put'),
  }),
  'provider_keys.delete': async world => {
    await world.call('provider_keys.put', { params: { provider: 'openai' }, body: { key: 'a-key-of-openai' } })
    return { params: { provider: 'openai' } }
  },
  'team.list': async () => ({}),
  'team.invite': async world => ({
    body: exampleBody('team.invite', { email: `${world.fresh('person')}@example.com` }),
  }),
  'team.invite_revoke': async world => ({ params: { invitation_id: await newInvitation(world) } }),
  'team.invite_resend': async world => ({
    params: { invitation_id: await newInvitation(world) },
    body: exampleBody('team.invite_resend'),
  }),
  'team.remove': async world => ({ params: { user_id: await world.member() } }),
  'team.set_role': async world => ({ params: { user_id: await world.member() }, body: exampleBody('team.set_role') }),
  'tenant_settings.get': async () => ({}),
  'tenant_settings.update': async world => {
    const { version } = (await world.call('tenant_settings.get', {})).retention
    const retention = { ...EXAMPLES['tenant_settings.update'].body.retention, expected_version: version }
    return { body: exampleBody('tenant_settings.update', { retention }) }
  },
  'audit.list': async () => ({ query: { limit: 5, after: '2020-01-01T00:00:00Z', before: '2100-01-01T00:00:00Z' } }),
  'agents.list': async () => ({ query: { q: 'a', channel: 'phone', sort: 'name_asc', limit: 5 } }),
  'agents.create': async world => ({
    body: exampleBody('agents.create', { agent_id: world.fresh('agent') }),
  }),
  'agents.get': async world => ({ params: { agent_id: (await newAgent(world)).agent_id } }),
  'agents.delete': async world => ({ params: { agent_id: (await newAgent(world)).agent_id } }),
  'agents.clone': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    body: exampleBody('agents.clone', { agent_id: world.fresh('agent') }),
  }),
  'agents.import': async world => {
    const reference = { tenant_id: world.tenantId, kind: 'agent', id: world.fresh('agent') }
    return { body: exampleBody('agents.import', { reference }) }
  },
  'agents.import_inspect': async () => ({ body: exampleBody('agents.import_inspect') }),
  'agents.export': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    query: { version: 0 },
  }),
  'drafts.get': async world => ({ params: { agent_id: (await newAgent(world)).agent_id } }),
  'drafts.edit_schema': async () => ({ params: { type: 'flow.node.put' } }),
  'drafts.edit': async world => {
    const { agent_id, ...draft } = await newAgent(world)
    return { params: { agent_id }, body: exampleBody('drafts.edit', draft) }
  },
  'drafts.discard': async world => {
    const { agent_id, ...query } = await newAgent(world)
    return { params: { agent_id }, query }
  },
  'drafts.open': async world => {
    const { agent_id, ...query } = await publishedAgent(world)
    await world.call('drafts.discard', { params: { agent_id }, query })
    return { params: { agent_id }, body: exampleBody('drafts.open') }
  },
  'drafts.validate': async world => {
    const { agent_id, ...draft } = await newAgent(world)
    return { params: { agent_id }, body: exampleBody('drafts.validate', draft) }
  },
  'publications.list': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    query: { limit: 5 },
  }),
  'publications.publish': async world => {
    const { agent_id, ...draft } = await newAgent(world)
    return { params: { agent_id }, body: exampleBody('publications.publish', draft) }
  },
  'publications.get': async world => ({ params: { agent_id: (await publishedAgent(world)).agent_id, version: 0 } }),
  'publications.set_head': async world => ({
    params: { agent_id: (await publishedAgent(world)).agent_id },
    body: exampleBody('publications.set_head'),
  }),
  'actions.list': async () => ({ query: { channel: 'phone', invocation: 'flow_node' } }),
  'models.list': async () => ({ query: { kind: 'chat', ready: true, limit: 5 } }),
  'voices.preview': async () => ({ body: exampleBody('voices.preview') }),
  'voices.list': async () => ({ query: { role: 'tts', language: 'en', provider: 'simulated', limit: 5 } }),
  'trunks.list': async () => ({ query: { limit: 5 } }),
  'trunks.create': async world => ({ body: await trunkBody(world) }),
  'trunks.get': async world => ({ params: { trunk_id: await newTrunk(world) } }),
  'trunks.update': async world => ({
    params: { trunk_id: await newTrunk(world) },
    body: exampleBody('trunks.update'),
  }),
  'trunks.delete': async world => ({ params: { trunk_id: await newTrunk(world) } }),
  'numbers.list': async world => ({ query: { trunk_id: await newTrunk(world), limit: 5 } }),
  'numbers.import': async world => ({
    body: exampleBody('numbers.import', {
      phone_number: `+1202555${++lastNumber}`,
      trunk_id: await newTrunk(world),
    }),
  }),
  'numbers.assign': async world => ({
    params: { number_id: await newNumber(world) },
    body: exampleBody('numbers.assign', { agent_id: (await publishedAgent(world)).agent_id }),
  }),
  'numbers.release': async world => ({ params: { number_id: await newNumber(world) } }),
  'call_limits.get': async () => ({}),
  'call_limits.update': async () => ({ body: exampleBody('call_limits.update') }),
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
    body: exampleBody('runs.update'),
  }),
  'runs.cancel': async world => ({ params: { run_id: await newChat(world) }, body: exampleBody('runs.cancel') }),
  'runs.message': async world => ({ params: { run_id: await newChat(world) }, body: exampleBody('runs.message') }),
  'runs.listen': async world => ({ params: { run_id: await newCall(world) }, body: exampleBody('runs.listen') }),
  'runs.listener': async world => {
    const run_id = await newCall(world)
    const { listener_id } = await world.call('runs.listen', { params: { run_id }, body: exampleBody('runs.listen') })
    return { params: { run_id, listener_id } }
  },
  'runs.timeline': async world => ({ params: { run_id: await newChat(world) }, query: { limit: 5 } }),
  'runs.effects': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.replay': async world => ({
    params: { run_id: await world.recordedRun(await newChat(world)) },
    body: exampleBody('runs.replay'),
  }),
  'runs.ladder': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.transcript': async world => ({ params: { run_id: await newChat(world) } }),
  'runs.recording': async world => ({ params: { run_id: await newChat(world) } }),
  'test_suites.create': async world => ({ body: exampleBody('test_suites.create', { name: world.fresh('suite') }) }),
  'test_suites.list': async () => ({ query: { agent_id: 'ada', limit: 5 } }),
  'test_suites.get': async world => ({ params: { suite_id: await newSuite(world) } }),
  'test_suites.edit': async world => ({
    params: { suite_id: await newSuite(world) },
    body: exampleBody('test_suites.edit'),
  }),
  'test_suites.delete': async world => ({
    params: { suite_id: await newSuite(world) },
    query: { expected_revision: 1 },
  }),
  'test_runs.create': async world => ({
    body: exampleBody('test_runs.create', {
      ...(await testRunBody(world)),
      baseline_test_run_id: await newTestRun(world),
    }),
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
  'test_runs.cancel': async world => ({
    params: { test_run_id: await newTestRun(world) },
    body: exampleBody('test_runs.cancel'),
  }),
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
  'budgets.update': async world => {
    const expected_policy_id = (await world.call('budgets.get', {})).policy_id
    return { body: exampleBody('budgets.update', { expected_policy_id }) }
  },
  'alerts.list': async () => ({}),
  'alerts.create': async world => ({ body: await alertBody(world) }),
  'alerts.update': async world => ({
    params: { alert_id: await newAlert(world) },
    body: exampleBody('alerts.update'),
  }),
  'alerts.delete': async world => ({ params: { alert_id: await newAlert(world) }, query: { expected_revision: 1 } }),
  'alerts.acknowledge': async world => {
    const alert_id = await newAlert(world)
    const delivery_id = await world.uncertainDelivery(alert_id)
    return { params: { alert_id }, body: exampleBody('alerts.acknowledge', { delivery_id }) }
  },
  'alert_destinations.get': async () => ({}),
  'alert_destinations.update': async world => {
    const { chat, paging } = (await world.call('alert_destinations.get', {})).destinations
    const { body } = EXAMPLES['alert_destinations.update']
    return {
      body: exampleBody('alert_destinations.update', {
        chat: { ...body.chat, expected_revision: chat.revision },
        paging: { ...body.paging, expected_revision: paging.revision },
      }),
    }
  },
}
