import { draftContent, operations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import type { ImportBody } from './check-export.ts'
import { exportDraft } from './export-draft.ts'
import { exportFile, imported, importFile, importOf, modelOf, providers, secrets } from './fixtures/exports.ts'
import { type DraftContent, importExport } from './import-export.ts'
import type { JsonObject } from './json.ts'

const output = operations.find(operation => operation.id === 'agents.export')!.output
const out = (draft: DraftContent, version = 7) => exportDraft(draft, { version })
const back = (draft: DraftContent, version = 7) => {
  const { warnings: _, ...body } = out(draft, version)
  return imported(importExport(body as ImportBody, secrets))
}

/** An agent that nobody imported, with what only this platform has. */
const own = draftContent.parse({
  name: 'Own',
  settings: {
    voiceId: 'mouth-ben',
    channels: ['phone'],
    openerWaitsForCallee: true,
    callScreening: { enabled: false, identity: 'Own' },
    voicemail: { enabled: true, action: 'leave_message' },
    language: 'de-DE',
  },
  providers,
  telephony: { trunkId: 'trunk', from: null },
  recording: { required: true, channels: 'dual', signed_urls: false },
  notification: { url: 'http://127.0.0.1:9/x', secret: { id: 'hook', version: '2' }, events: ['run.transfer'] },
  inbound_context: { action_id: 'ask', variables: ['name'] },
  knowledge: { document_ids: null, top_k: 5, min_score: 0.4 },
  analysis: { items: [], model: modelOf('own-mini') },
  actions: [
    {
      action_id: 'ask',
      kind: 'http',
      name: 'ask',
      version: 6,
      channels: ['phone'],
      method: 'POST',
      url: 'https://own.example.com/ask',
      auth: { scheme: 'parley_signature', secret: { id: 'hook', version: '2' } },
      idempotency: 'effect_key',
      timeout_ms: 8000,
    },
  ],
  flow: { nodes: [{ id: 'end', type: 'end', model_choice: modelOf('own-mini') }], start_node_id: 'end' },
  source: null,
})

it('keeps events of a webhook that cannot be read, and gives them back', () => {
  const full = exportFile('full-export')
  const odd = importOf({ ...full, agent: { ...full.agent, webhook_events: 'all of them' } })
  const draft = imported(importExport(odd, secrets))
  expect(draft.notification?.events).toHaveLength(4)
  expect(out(draft, draft.source!.agent_version).agent.webhook_events).toBe('all of them')
  expect(back(draft, draft.source!.agent_version)).toEqual(draft)
})

describe.each(['full-export', 'minimal-export'] as const)('the import of %s', name => {
  const { draft } = importFile(name)
  const version = draft.source!.agent_version

  it('goes out as the API answers it', () => expect(output.parse(out(draft, version))).toEqual(out(draft, version)))

  it('comes back as the same draft', () => expect(back(draft, version)).toEqual(draft))

  it('goes out again as the same document', () =>
    expect(out(back(draft, version), version)).toEqual(out(draft, version)))

  it('has in it what the source said and drafts have no place for', () => {
    const { agent, flow } = exportFile(name)
    const written = out(draft, version)
    const rewritten = ['agent_name', 'post_call_analysis_data']
    for (const field of Object.keys(agent).filter(field => !rewritten.includes(field)))
      expect(written.agent, field).toHaveProperty(field, agent[field])
    for (const field of ['notes', 'mcps', 'kb_config', 'model_choice'].filter(field => field in flow))
      expect(written.flow, field).toHaveProperty(field, flow[field])
  })

  it('is not changed by going out', () => {
    const before = structuredClone(draft)
    out(draft)
    expect(draft).toEqual(before)
  })
})

describe('an agent with what only this platform has', () => {
  it('comes back the same, its action at its first version', () => {
    const { actions, source: _, ...rest } = back(own)
    const { actions: written, source: __, ...before } = own
    expect(rest).toEqual(before)
    expect(actions).toEqual(written.map(action => ({ ...action, version: 1 })))
  })

  it('says it in `parley`, beside what the format says', () => {
    const { agent, flow, config, model_bindings } = out(own)
    expect(agent).toMatchObject({
      channel: 'voice',
      version: 7,
      response_engine: { type: 'conversation-flow', version: 7 },
      webhook_url: 'http://127.0.0.1:9/x',
      webhook_events: ['transfer_ended'],
      post_call_analysis_model: 'own-mini',
      parley: {
        settings: { voiceId: 'mouth-ben', channels: ['phone'], openerWaitsForCallee: true, language: 'de-DE' },
        recording: { signed_urls: false },
        inbound_context: { action_id: 'ask' },
        knowledge: { top_k: 5 },
      },
    })
    expect((flow.tools as JsonObject[])[0]).toMatchObject({
      type: 'custom',
      tool_id: 'ask',
      parley: { channels: ['phone'], idempotency: 'effect_key', auth: { scheme: 'parley_signature' } },
    })
    expect(config.webhook).toEqual({ url: 'http://127.0.0.1:9/x', secretRef: 'hook@2' })
    expect(model_bindings['/flow/nodes/0/model_choice']).toEqual(modelOf('own-mini'))
  })

  it('that need not be recorded goes out with the word that it cannot come in', () => {
    const { warnings } = out({ ...own, recording: { ...own.recording, required: false } })
    expect(warnings).toMatchObject([{ path: '/config/recording/required', severity: 'warning' }])
  })

  it('goes out with ids of their own where two nodes have the same', () => {
    const [end] = own.flow.nodes
    const { flow, warnings } = out({ ...own, flow: { ...own.flow, nodes: [end!, end!] } })
    expect((flow.nodes as JsonObject[]).map(({ id }) => id)).toEqual(['end', 'end-2'])
    expect(warnings).toMatchObject([{ code: 'id_renamed', path: '/flow/nodes/1/id' }])
  })
})

describe('items that go by no name of their own', () => {
  const preset = { type: 'system-presets', name: 'call_summary', description: 'Sum it up' }
  const plain = (name: string) => ({ type: 'string', name, description: 'x' })
  const unknown = (name?: string) => ({ type: 'selector', ...(name !== undefined && { name }), description: 'x' })
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(plain)

  it.each([
    ['behind one that is not taken', [preset, unknown('shade'), preset]],
    ['between those that are not taken', [preset, unknown(), unknown(), preset, unknown('shade'), unknown(), preset]],
    ['in a long list', [...names.slice(0, 2), unknown(), ...names.slice(2), unknown(), preset, preset]],
  ])('stand where they stood: %s', (_, post_call_analysis_data) => {
    const { agent, flow } = exportFile('full-export')
    const draft = imported(importExport(importOf({ agent: { ...agent, post_call_analysis_data }, flow }), secrets))
    expect(back(draft, draft.source!.agent_version)).toEqual(draft)
  })
})

describe('an import that was edited since', () => {
  const { draft } = importFile('full-export')

  it('goes out as it was edited, not as it came', () => {
    const edited = { ...draft, settings: { ...draft.settings, language: 'es', voicemail: { enabled: false } } }
    expect(out(edited).agent).toMatchObject({ language: 'es', parley: { settings: { voicemail: { enabled: false } } } })
    expect(back(edited).settings).toEqual(edited.settings)
  })

  it('has nothing of what its nodes said, once they are gone', () => {
    const edited = { ...draft, flow: { ...draft.flow, nodes: draft.flow.nodes.filter(({ id }) => id === 'end') } }
    const nodes = out(edited).flow.nodes as JsonObject[]
    expect(nodes.map(({ id }) => id)).toEqual(['end', 'lost', 'pad'])
    expect(back(edited).flow.nodes).toEqual(edited.flow.nodes)
  })

  it('says a setting of a node that the source said in another way', () => {
    const nodes = draft.flow.nodes.map(node => (node.id === 'start_1' ? { ...node, responsiveness: 0.2 } : node))
    const [start] = out({ ...draft, flow: { ...draft.flow, nodes: nodes as typeof draft.flow.nodes } }).flow
      .nodes as JsonObject[]
    expect(start).toMatchObject({ responsiveness: 0.2, start_speaker: 'agent' })
  })
})
