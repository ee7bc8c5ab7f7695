import { draftContent, operations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import type { ImportBody } from './check-export.ts'
import { exportDraft } from './export-draft.ts'
import { exportFile, imported, importFile, importOf, modelOf, providers, secrets } from './fixtures/exports.ts'
import { type DraftContent, importExport } from './import-export.ts'
import type { JsonObject } from './json.ts'

const output = operations.find(operation => operation.id === 'agents.export')!.output
const out = (draft: DraftContent, version = 7) => exportDraft(draft, { version, includeWebhook: true })
const back = (draft: DraftContent, version = 7) => {
  const { warnings: _, ...body } = out(draft, version)
  return imported(importExport(body as ImportBody, secrets))
}

/** An agent that was not imported, with settings that only this platform has. */
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

it('unreadable webhook events of an export are exported again unchanged', () => {
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

  it('its export matches the response schema of the API', () =>
    expect(output.parse(out(draft, version))).toEqual(out(draft, version)))

  it('its export imports as the same draft', () => expect(back(draft, version)).toEqual(draft))

  it('its export stays the same after another import', () =>
    expect(out(back(draft, version), version)).toEqual(out(draft, version)))

  it('its export contains the source fields that drafts cannot hold', () => {
    const { agent, flow } = exportFile(name)
    const written = out(draft, version)
    const rewritten = ['agent_name', 'post_call_analysis_data']
    for (const field of Object.keys(agent).filter(field => !rewritten.includes(field)))
      expect(written.agent, field).toHaveProperty(field, agent[field])
    for (const field of ['notes', 'kb_config', 'model_choice'].filter(field => field in flow))
      expect(written.flow, field).toHaveProperty(field, flow[field])
  })

  it('an export leaves the draft unchanged', () => {
    const before = structuredClone(draft)
    out(draft)
    expect(draft).toEqual(before)
  })
})

describe('an agent with platform-specific settings', () => {
  it('an agent with platform-specific settings survives export and import, and its actions restart at version 1', () => {
    const { actions, source: _, ...rest } = back(own)
    const { actions: written, source: __, ...before } = own
    expect(rest).toEqual(before)
    expect(actions).toEqual(written.map(action => ({ ...action, version: 1 })))
  })

  it('platform-specific settings are exported in `parley` objects beside the standard fields', () => {
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

  it('an export has no trace of the webhook unless it is requested, and says what is missing', () => {
    const without = exportDraft(own, { version: 7, includeWebhook: false })
    expect(JSON.stringify(without)).not.toContain('http://127.0.0.1:9/x')
    expect(without.config).not.toHaveProperty('webhook')
    expect(without.warnings).toMatchObject([{ code: 'webhook_left_out', path: '/config/webhook', severity: 'warning' }])
    const { warnings: _, ...body } = without
    expect(imported(importExport(body as ImportBody, secrets))).toMatchObject({ name: 'Own', notification: null })
    expect(out({ ...own, notification: null }).warnings).toEqual([])
  })

  it('exporting an agent that need not be recorded warns that the export cannot be imported', () => {
    const { warnings } = out({ ...own, recording: { ...own.recording, required: false } })
    expect(warnings).toMatchObject([{ path: '/config/recording/required', severity: 'warning' }])
  })

  it('nodes with the same id are exported with unique ids', () => {
    const [end] = own.flow.nodes
    const { flow, warnings } = out({ ...own, flow: { ...own.flow, nodes: [end!, end!] } })
    expect((flow.nodes as JsonObject[]).map(({ id }) => id)).toEqual(['end', 'end-2'])
    expect(warnings).toMatchObject([{ code: 'id_renamed', path: '/flow/nodes/1/id' }])
  })
})

describe('analysis items without a unique name', () => {
  const preset = { type: 'system-presets', name: 'call_summary', description: 'Sum it up' }
  const plain = (name: string) => ({ type: 'string', name, description: 'x' })
  const unknown = (name?: string) => ({ type: 'selector', ...(name !== undefined && { name }), description: 'x' })
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(plain)

  it.each([
    ['behind an item of an unknown type', [preset, unknown('shade'), preset]],
    ['between items of unknown types', [preset, unknown(), unknown(), preset, unknown('shade'), unknown(), preset]],
    ['in a long list', [...names.slice(0, 2), unknown(), ...names.slice(2), unknown(), preset, preset]],
  ])('analysis items keep their positions through import and export: %s', (_, post_call_analysis_data) => {
    const { agent, flow } = exportFile('full-export')
    const draft = imported(importExport(importOf({ agent: { ...agent, post_call_analysis_data }, flow }), secrets))
    expect(back(draft, draft.source!.agent_version)).toEqual(draft)
  })
})

describe('an imported draft that was edited', () => {
  const { draft } = importFile('full-export')

  it('an edited import is exported with its edits', () => {
    const edited = { ...draft, settings: { ...draft.settings, language: 'es', voicemail: { enabled: false } } }
    expect(out(edited).agent).toMatchObject({ language: 'es', parley: { settings: { voicemail: { enabled: false } } } })
    expect(back(edited).settings).toEqual(edited.settings)
  })

  it('an export contains no stored source fields of removed nodes', () => {
    const edited = { ...draft, flow: { ...draft.flow, nodes: draft.flow.nodes.filter(({ id }) => id === 'end') } }
    const nodes = out(edited).flow.nodes as JsonObject[]
    expect(nodes.map(({ id }) => id)).toEqual(['end', 'lost', 'pad'])
    expect(back(edited).flow.nodes).toEqual(edited.flow.nodes)
  })

  it('an edited node setting replaces the form in which the source wrote it', () => {
    const nodes = draft.flow.nodes.map(node => (node.id === 'start_1' ? { ...node, responsiveness: 0.2 } : node))
    const [start] = out({ ...draft, flow: { ...draft.flow, nodes: nodes as typeof draft.flow.nodes } }).flow
      .nodes as JsonObject[]
    expect(start).toMatchObject({ responsiveness: 0.2, start_speaker: 'agent' })
  })
})
