import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AgentFixture, refusal } from '../testing/agent-fixture.ts'

let test: TestDatabase
let fixture: AgentFixture

beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  fixture = await AgentFixture.open(test)
})

const MODEL = { model_id: 'near-1', provider: 'near', tier: 'frontier' }

const config = (more: object = {}) => ({
  providers: {
    stt: { provider: 'near', model: 'near-1' },
    llm: { model: MODEL, provider: 'hosted' },
    tts: { provider: 'near', model: 'near-1', voiceId: 'bea' },
  },
  recording: { required: true, channels: 'dual' },
  ...more,
})

const exported = (prompt = 'Who is there?', more: object = {}) => ({
  agent_version: 3,
  agent: {
    agent_name: 'Doorbell',
    version: 3,
    language: 'en-US',
    response_engine: { type: 'conversation-flow', version: 3, conversation_flow_id: 'flow_door' },
  },
  flow: {
    conversation_flow_id: 'flow_door',
    version: 3,
    start_speaker: 'agent',
    start_node_id: 'hello',
    nodes: [
      {
        id: 'hello',
        type: 'conversation',
        instruction: { type: 'static_text', text: prompt },
        edges: [
          { id: 'e', transition_condition: { type: 'prompt', prompt: 'They said who' }, destination_node_id: 'bye' },
        ],
      },
      { id: 'bye', type: 'end' },
    ],
  },
  config: config(),
  model_bindings: {},
  ...more,
})

const reference = (id = 'door') => ({ tenant_id: fixture.scope.tenant_id, kind: 'agent', id })
const importAgent = (body: object = exported(), id = 'door') =>
  fixture.call('agents.import', { body: { reference: reference(id), ...body } })
const params = { agent_id: 'door' }
const draft = async () => (await fixture.call('drafts.get', { params })).body

describe('POST /agents/import', () => {
  it('an import under a new id creates an agent with a first draft and no live version', async () => {
    const answer = await importAgent()
    expect(answer).toMatchObject({
      status: 201,
      body: {
        outcome: 'create_agent',
        draft: { agent: { id: 'door' }, revision: 1, base_version: null, published_revision: null },
      },
      auditedResource: { kind: 'agent', id: 'door' },
    })
    expect(await fixture.summary('door')).toMatchObject({ name: 'Doorbell', head: null, draft: { revision: 1 } })
    expect(await draft()).toMatchObject({ source: { kind: 'agent_import', agent_version: 3, flow_id: 'flow_door' } })
    const at = { draft_id: answer.body.draft.draft_id, expected_revision: 1 }
    const { body } = await fixture.publish('door', at)
    expect(body.publication).toMatchObject({ source_kind: 'agent_import', languages: ['en'] })
  })

  it('a repeated import of an export onto its unedited draft changes nothing, even after publishing', async () => {
    const first = await importAgent()
    expect(await importAgent()).toMatchObject({ status: 200, body: { ...first.body, outcome: 'unchanged' } })
    await fixture.publish('door', { draft_id: first.body.draft.draft_id, expected_revision: 1 })
    const again = await importAgent()
    expect(again).toMatchObject({
      status: 200,
      body: { outcome: 'unchanged', draft: { revision: 1, published_revision: 1 } },
    })
  })

  it('an import replaces a draft without unpublished changes and keeps the live version', async () => {
    const first = await importAgent()
    await fixture.publish('door', { draft_id: first.body.draft.draft_id, expected_revision: 1 })
    const { head } = await fixture.summary('door')
    const { body, status } = await importAgent(exported('Who rings?'))
    expect(status).toBe(201)
    const { draft_id } = first.body.draft
    expect(body).toMatchObject({
      outcome: 'replace_draft',
      draft: { draft_id, revision: 2, base_version: 0, published_revision: 1 },
    })
    expect((await fixture.summary('door')).head).toEqual(head)
    expect((await draft()).flow.nodes[0].instruction.text).toBe('Who rings?')
  })

  it('an import overwrites unpublished changes only when it names the draft', async () => {
    const first = await importAgent()
    const { draft_id } = first.body.draft
    const at = await fixture.edit('door', { draft_id, expected_revision: 1 }, { type: 'flow.prompt', text: 'Mine' })
    const current = { draft_id, revision: 2 }
    // The same holds for the export that the edited draft was imported from.
    for (const body of [exported(), exported('Other')])
      expect(await importAgent(body)).toMatchObject(refusal('conflict', 'draft_has_changes', { current }))
    const stale = { draft_id, expected_revision: 1 }
    expect(await importAgent({ ...exported(), replace_draft: stale })).toMatchObject(
      refusal('conflict', 'stale_revision', { current }),
    )
    const replaced = await importAgent({ ...exported(), replace_draft: at })
    expect(replaced).toMatchObject({
      status: 201,
      body: { outcome: 'replace_draft', draft: { draft_id, revision: 3 } },
    })
    expect((await draft()).flow.global_prompt).toBe('')
    expect(await importAgent()).toMatchObject({ status: 200, body: { outcome: 'unchanged' } })
  })

  it('of many concurrent identical imports one is stored', async () => {
    const { draft_id } = (await importAgent()).body.draft
    const replace_draft = { draft_id, expected_revision: 1 }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => importAgent({ ...exported(`No ${n}`), replace_draft })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect((await draft()).revision).toBe(2)
    const created = await Promise.all(Array.from({ length: 10 }, () => importAgent(exported(), 'twin')))
    expect(created.map(({ body }) => body.outcome).toSorted()).toEqual(['create_agent', ...Array(9).fill('unchanged')])
  })

  it('an import opens a draft when none is open', async () => {
    const { draft_id } = (await importAgent()).body.draft
    await fixture.call('drafts.discard', { params, query: { draft_id, expected_revision: 1 } })
    const replace_draft = { draft_id, expected_revision: 1 }
    const gone = refusal('conflict', 'stale_revision', { current: null })
    expect(await importAgent({ ...exported(), replace_draft })).toMatchObject(gone)
    const opened = await importAgent()
    expect(opened).toMatchObject({ status: 201, body: { outcome: 'open_draft', draft: { revision: 1 } } })
    expect(opened.body.draft.draft_id).not.toBe(draft_id)
  })

  it('an import needs a valid new agent id in its own environment and refuses an archived agent', async () => {
    const upper = await importAgent(exported(), 'Door')
    expect(upper).toMatchObject(refusal('invalid_request'))
    expect(upper.body.error.details.issues[0].path).toBe('/reference/id')
    const foreign = { ...reference(), tenant_id: (await test.scope()).tenant_id }
    expect(await importAgent({ ...exported(), reference: foreign })).toMatchObject(refusal('not_found'))
    await importAgent()
    await fixture.call('agents.delete', { params })
    expect(await importAgent()).toMatchObject(refusal('conflict', 'agent_archived'))
  })

  it('an import pins the webhook and the current version of its secret', async () => {
    await fixture.secret('hook', 'webhook_signing', 2)
    const webhook = (secretRef: string, url = 'https://example.com/hook') =>
      exported('x', { config: config({ webhook: { url, secretRef } }) })
    for (const missing of ['none', 'hook@3'])
      expect(await importAgent(webhook(missing))).toMatchObject(refusal('invalid_request', 'secret_not_found'))
    const plain = webhook('hook', 'http://example.com/hook')
    expect(await importAgent(plain)).toMatchObject(refusal('invalid_request', 'address_not_allowed'))
    const agent = { ...exported().agent, webhook_url: 'https://elsewhere.example.com' }
    expect(await importAgent({ ...webhook('hook'), agent })).toMatchObject(
      refusal('invalid_request', 'webhook_mismatch'),
    )
    expect(await fixture.call('agents.get', { params })).toMatchObject(refusal('not_found'))

    await importAgent(webhook('hook'))
    expect((await draft()).notification).toMatchObject({
      url: 'https://example.com/hook',
      secret: { id: 'hook', version: '2' },
    })
    await importAgent(webhook('hook@1'), 'door2')
    const other = (await fixture.call('drafts.get', { params: { agent_id: 'door2' } })).body
    expect(other.notification.secret).toEqual({ id: 'hook', version: '1' })
  })

  it('an import needs a model binding for each model that the inspection reports', async () => {
    const body = exported('x')
    const withModel = { ...body, flow: { ...body.flow, model_choice: { type: 'cascading', model: 'vendor-big' } } }
    const { agent, flow } = withModel
    const inspected = await fixture.call('agents.import_inspect', { body: { agent, flow } })
    expect(inspected).toMatchObject({
      status: 200,
      body: {
        agent_name: 'Doorbell',
        agent_version: 3,
        node_types: { conversation: 1, end: 1 },
        model_bindings: [{ path: '/flow/model_choice', source_model: 'vendor-big', bound: false }],
      },
    })
    const refused = await importAgent(withModel)
    expect(refused).toMatchObject(refusal('publication_invalid', 'model_binding_required'))
    expect(refused.body.error.details.diagnostics[0]).toMatchObject({
      code: 'model_binding_required',
      path: '/flow/model_choice',
    })
    const model_bindings = { '/flow/model_choice': { model: MODEL } }
    expect(await importAgent({ ...withModel, model_bindings })).toMatchObject({ status: 201 })
  })

  it('an import accepts conversation flows only', async () => {
    const body = exported()
    const agent = { ...body.agent, response_engine: { type: 'single-prompt' } }
    expect(await importAgent({ ...body, agent })).toMatchObject(
      refusal('capability_unavailable', 'unsupported_capability'),
    )
  })
})

describe('GET /agents/{agent_id}/export', () => {
  const exportAgent = async (query: object = {}) => fixture.call('agents.export', { params, query })

  it('the live version, a named version or the draft can be exported', async () => {
    expect(await fixture.call('agents.export', { params: { agent_id: 'nobody' } })).toMatchObject(refusal('not_found'))
    const { draft_id } = (await importAgent()).body.draft
    expect(await exportAgent()).toMatchObject(refusal('conflict', 'agent_not_published'))
    expect((await exportAgent({ draft: true })).body.agent_version).toBe(3)
    let at = { draft_id, expected_revision: 1 }
    await fixture.publish('door', at)
    at = await fixture.edit('door', at, { type: 'agent.name', name: 'Gate' })
    await fixture.publish('door', at)
    expect((await exportAgent()).body).toMatchObject({ agent_version: 1, agent: { agent_name: 'Gate', version: 1 } })
    expect((await exportAgent({ version: 0 })).body).toMatchObject({
      agent_version: 0,
      agent: { agent_name: 'Doorbell' },
    })
    expect(await exportAgent({ version: 2 })).toMatchObject(refusal('not_found'))
    await fixture.call('agents.delete', { params })
    expect(await exportAgent()).toMatchObject({ status: 200 })
    expect(await exportAgent({ draft: true })).toMatchObject(refusal('not_found'))
  })

  it('an export has the webhook only where include_webhook asks for it', async () => {
    await importAgent()
    const { draft_id } = await draft()
    await fixture.secret('hook', 'webhook_signing')
    const url = 'https://hooks.example.com/of-anna?token=t'
    const notification = { url, secret: { id: 'hook', version: '1' } }
    await fixture.edit('door', { draft_id, expected_revision: 1 }, { type: 'notification.put', notification })
    const without = (await exportAgent({ draft: true })).body
    expect(JSON.stringify(without)).not.toContain('hooks.example.com')
    expect(without.warnings).toMatchObject([{ code: 'webhook_left_out' }])
    const whole = (await exportAgent({ draft: true, include_webhook: true })).body
    expect([whole.agent.webhook_url, whole.config.webhook]).toEqual([url, { url, secretRef: 'hook@1' }])
  })

  it('an exported agent imported into another environment has the same content', async () => {
    await importAgent()
    const { draft_id } = await draft()
    const at = { draft_id, expected_revision: 1 }
    await fixture.edit('door', at, { type: 'agent.settings', values: { volume: 0.5, timezone: 'Europe/Madrid' } })
    const { warnings, ...body } = (await exportAgent({ draft: true })).body
    expect(warnings).toEqual([])
    const sandbox = new AgentFixture(
      test,
      await test.scope({ environment: 'sandbox', owner_id: fixture.scope.owner_id }),
    )
    const moved = { ...body, reference: { ...reference(), tenant_id: sandbox.scope.tenant_id } }
    expect(await sandbox.call('agents.import', { body: moved })).toMatchObject({ status: 201 })
    const content = ({ name, settings, providers, flow, actions }: Record<string, unknown>) => ({
      name,
      settings,
      providers,
      flow,
      actions,
    })
    const there = (await sandbox.call('drafts.get', { params })).body
    expect(content(there)).toEqual(content(await draft()))
  })
})
