import { describe, expect, it } from 'vitest'
import { asks, ends, providers, says, when } from '../testing/flow-harness.ts'
import { applyEdits } from './apply-edits.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { after, draftWithNodes, hello, parsedEdits, refusal, type Written } from './testing/edits.ts'

const main = { component_id: null }
const at = (node_id: string, component_id: string | null = null) => ({ component_id, node_id })
const http = { action_id: 'look', kind: 'http', name: 'look_up', method: 'GET', url: 'https://example.test/' } as const
const secret = { id: 's', version: '1' }

describe('edits of the agent', () => {
  it('edits set and remove the name, recording, knowledge, analysis, webhook and inbound context of an agent', () => {
    const set = after(
      hello(),
      { type: 'agent.name', name: 'Ada' },
      { type: 'agent.recording', value: { required: true, channels: 'dual' } },
      { type: 'agent.knowledge', value: { document_ids: null } },
      { type: 'agent.analysis', value: { items: [], model: null } },
      { type: 'notification.put', notification: { url: 'https://example.test/', secret } },
      { type: 'phone.inbound_context', value: { action_id: 'who', variables: ['name'] } },
    )
    expect(set).toMatchObject({
      name: 'Ada',
      recording: { required: true, channels: 'dual', signed_urls: true },
      knowledge: { document_ids: null, top_k: 3, min_score: 0 },
      analysis: { items: [], model: null },
      notification: { events: ['run.started', 'run.transfer', 'run.ended', 'run.analyzed'] },
      inbound_context: { action_id: 'who', variables: ['name'] },
    })
    expect(
      after(
        set,
        { type: 'agent.knowledge', value: null },
        { type: 'agent.analysis', value: null },
        { type: 'notification.remove' },
        { type: 'phone.inbound_context', value: null },
      ),
    ).toMatchObject({ knowledge: null, analysis: null, notification: null, inbound_context: null })
  })

  it('an edit sets and clears settings, and is refused when one name is in both lists', () => {
    const set = after(hello(), { type: 'agent.settings', values: { voiceSpeed: 1.5, volume: 2 } })
    const cleared = after(set, {
      type: 'agent.settings',
      values: { language: 'es' },
      clear: ['voiceSpeed', 'ringDurationMs'],
    })
    expect(cleared.settings).toEqual({ channels: ['cloud'], volume: 2, language: 'es' })
    const twice = { type: 'agent.settings' as const, values: { volume: 1 }, clear: ['volume' as const] }
    expect(applyEdits(hello(), [twice])).toMatchObject({ ok: false, issues: [{ path: '/edits/0/clear' }] })
  })

  it('edits set the trunk with or without a number, and remove it', () => {
    const set = after(hello(), { type: 'agent.telephony', value: { trunkId: 't', from: '+15550100' } })
    expect(set.telephony).toEqual({ trunkId: 't', from: '+15550100' })
    expect(after(set, { type: 'agent.telephony', value: { trunkId: 'u' } }).telephony).toEqual({
      trunkId: 'u',
      from: null,
    })
    expect(after(set, { type: 'agent.telephony', value: null }).telephony).toBeNull()
  })

  it('an edit changes single fields of a provider, and null removes a field', () => {
    const set = after(
      hello(),
      { type: 'agent.provider', role: 'tts', changes: { voiceId: 'v', credential: secret } },
      { type: 'agent.provider', role: 'llm', changes: { endpoint: 'https://llm.test/', provider: 'self_hosted' } },
    )
    expect(set.providers).toEqual({
      ...providers,
      tts: { ...providers.tts, voiceId: 'v', credential: secret },
      llm: { ...providers.llm, endpoint: 'https://llm.test/', provider: 'self_hosted' },
    })
    expect(
      after(
        set,
        { type: 'agent.provider', role: 'tts', changes: { voiceId: null, credential: null, model: 'm' } },
        { type: 'agent.provider', role: 'llm', changes: { endpoint: null } },
      ).providers,
    ).toEqual({
      ...providers,
      tts: { provider: 'simulated', model: 'm' },
      llm: { ...providers.llm, provider: 'self_hosted' },
    })
  })
})

describe('edits of actions', () => {
  it('actions are added, replaced in place and removed, and a put that changes an action raises its version', () => {
    const put = (fields: object = {}): Written => ({ type: 'action.put', action: { ...http, version: 7, ...fields } })
    const other = put({ action_id: 'other', name: 'other' })
    const once = after(hello(), put(), other)
    expect(once.actions.map(action => [action.action_id, action.version])).toEqual([
      ['look', 1],
      ['other', 1],
    ])
    expect(after(once, put(), put({ version: 1 }))).toEqual(once)
    const twice = after(once, put({ description: 'Looks up' }), put({ description: 'Looks it up' }))
    expect(twice.actions.map(action => action.version)).toEqual([3, 1])
    expect(after(twice, { type: 'action.remove', action_id: 'look' }).actions).toEqual([once.actions[1]])
    expect(refusal(hello(), { type: 'action.remove', action_id: 'look' })).toBe(
      'edit_not_applicable /edits/0/action_id',
    )
  })

  it('a draft takes at most 100 actions, and existing ones can still be replaced', () => {
    const actions = Array.from({ length: DRAFT_LIMITS.actions }, (_, n) => ({
      ...http,
      action_id: `a${n}`,
      name: `a${n}`,
    }))
    const full = draftWithNodes([ends()], {}, { actions })
    expect(refusal(full, { type: 'action.put', action: http })).toBe('limit_reached /edits/0/action')
    expect(after(full, { type: 'action.put', action: { ...http, action_id: 'a5' } }).actions[5]?.version).toBe(2)
    expect(refusal(full, { type: 'action.remove', action_id: 'a1' }, { type: 'action.put', action: http })).toBe(
      'applied',
    )
  })
})

describe('a list of edits', () => {
  it('edits are applied in order, and later ones see the results of earlier ones', () => {
    const draft = after(
      hello(),
      { type: 'flow.component.put', component: { component_id: 'c' } },
      { type: 'flow.node.put', component_id: 'c', node: asks('ask', 'Ask') },
      { type: 'flow.edge.put', ...at('ask', 'c'), edge: when('e', 'ask') },
      { type: 'flow.start', ...at('ask', 'c') },
    )
    expect(draft.flow.components[0]).toMatchObject({ start_node_id: 'ask', nodes: [{ edges: [{ id: 'e' }] }] })
  })

  it('a list with one invalid edit is refused as a whole and mutates neither the draft nor the list', () => {
    const draft = hello()
    const list = parsedEdits([
      { type: 'flow.node.put', ...main, node: asks('ask', 'Ask') },
      { type: 'flow.edge.put', ...at('ask'), edge: when('e', 'end') },
      { type: 'flow.node.remove', ...at('nobody') },
    ])
    const given = structuredClone({ draft, list })
    expect(applyEdits(draft, list)).toMatchObject({ ok: false, issues: [{ path: '/edits/2/node_id' }] })
    expect({ draft, list }).toEqual(given)
  })

  it('edits that would make a draft larger than 4 MiB are refused', () => {
    const text = 'é'.repeat(32_000)
    const nodes = Array.from({ length: 65 }, (_, n) => says(`n${n}`, text))
    const draft = draftWithNodes(nodes)
    expect(refusal(draft, { type: 'flow.node.put', ...main, node: says('one', text) })).toBe('limit_reached /edits')
    expect(refusal(draft, { type: 'flow.node.remove', ...at('n1') })).toBe('applied')
  })
})
