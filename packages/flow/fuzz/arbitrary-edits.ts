import type { DraftEdit } from '@parley/contract'
import { draftEdit } from '@parley/contract/testing'
import fc from 'fast-check'
import { providers } from '../src/testing/flow-harness.ts'

// Few names, so that edits refer to parts that exist, that an earlier edit added, and that do not exist.
const nodeId = fc.constantFrom('n0', 'n1', 'n2', 'n3', 'new', 'new2')
const edgeId = fc.constantFrom('e0', 'e1', 'e2', 'new')
const componentId = fc.option(fc.constantFrom('one', 'two', 'three'), { nil: null, freq: 2 })
const actionId = fc.constantFrom('plain', 'open', 'bye', 'new')
const name = fc.constantFrom('a', 'b', 'c', 'd')
const text = fc.constantFrom('', 'Hello {{a}}', '1', '{{c}}')
const instruction = fc.record({ type: fc.constantFrom('prompt', 'static_text'), text })
const secret = fc.record({
  id: fc.constantFrom('http', 'sign', 'key', 'gone'),
  version: fc.constantFrom('1', '2', '77'),
})
const model = fc.constantFrom<object>(
  providers.llm.model,
  { model_id: 'off', provider: 'parley', tier: 'frontier' },
  { model_id: 'vectors', provider: 'parley', tier: 'frontier' },
)
const credential = secret.map(ref => ({ ...ref, provider: 'openai' }))
const modelRef = fc.record({ model, credential }, { requiredKeys: ['model'] })

const condition = fc.oneof(
  fc.constant({ type: 'prompt', prompt: 'they agree' }),
  fc.constant({ type: 'equation', equations: [{ left: 'a', operator: '==', right: '1' }] }),
)
const edge = fc.record({
  id: edgeId,
  transition_condition: condition,
  destination_node_id: fc.option(nodeId, { nil: null }),
})
const slot = fc.option(edge, { nil: null })
const edges = fc.array(edge, { maxLength: 3 })
const transfer = {
  transfer_destination: fc.constantFrom(
    { type: 'predefined', number: '+15550100' },
    { type: 'predefined', number: '+15550100', extension: '12' },
  ),
  transfer_option: fc.constantFrom(
    { type: 'cold_transfer' },
    { type: 'cold_transfer', cold_transfer_mode: 'sip_invite' },
    { type: 'cold_transfer', show_transferee_as_caller: true },
    { type: 'warm_transfer', on_hold_music: 'none' },
  ),
}
const every = { id: nodeId, model_choice: fc.option(modelRef, { nil: null, freq: 3 }) }
const type = (value: string) => fc.constant(value)

const node = fc.oneof(
  fc.record({ ...every, type: type('conversation'), instruction, edges, always_edge: slot, else_edge: slot }),
  fc.record({ ...every, type: type('subagent'), instruction, edges, tool_ids: fc.array(actionId, { maxLength: 3 }) }),
  fc.record({ ...every, type: type('function'), tool_id: actionId, edges, else_edge: slot }),
  fc.record({ ...every, type: type('branch'), edges: fc.array(edge, { minLength: 1, maxLength: 3 }), else_edge: slot }),
  fc.record({ ...every, type: type('press_digit'), instruction, edges, else_edge: slot }),
  fc.record({ ...every, type: type('transfer_call'), ...transfer, edge: slot }),
  fc.record({
    ...every,
    type: type('component'),
    component_id: fc.constantFrom('one', 'two', 'three'),
    component_type: fc.constantFrom('local', 'shared'),
    edges,
  }),
  fc.record({ ...every, type: type('end'), instruction: fc.option(instruction, { nil: null }) }),
  fc.record({ ...every, type: type('code'), code: text, edges, else_edge: slot }),
  fc.record({ ...every, type: type('sms'), instruction, success_edge: slot, failed_edge: slot }),
  fc.record({
    ...every,
    type: type('mcp'),
    mcp_id: text.map(id => id || 'crm'),
    mcp_tool_name: type('find'),
    edges,
    else_edge: slot,
  }),
  fc.record({ ...every, type: type('agent_swap'), agent_id: text, edge: slot }),
  fc.record({ ...every, type: type('bridge_transfer') }),
  fc.record({ ...every, type: type('cancel_transfer') }),
)
const component = fc.record({
  component_id: fc.constantFrom('one', 'two', 'three'),
  start_node_id: fc.option(nodeId, { nil: null }),
  nodes: fc.array(node, { maxLength: 4 }),
})
const everyAction = { action_id: actionId, name: fc.constantFrom('plain', 'open', 'other') }
const action = fc.oneof(
  fc.record({
    ...everyAction,
    kind: type('http'),
    method: fc.constantFrom('GET', 'POST'),
    url: type('https://example.test/'),
    auth: fc.option(fc.record({ scheme: type('bearer'), secret }), { nil: null }),
  }),
  fc.record({ ...everyAction, kind: type('end_call') }),
  fc.record({ ...everyAction, kind: type('transfer_call'), ...transfer }),
  fc.record({ ...everyAction, kind: type('send_sms'), sms_content: instruction }),
  fc.record({ ...everyAction, kind: type('code'), code: text }),
  fc.record({ ...everyAction, kind: type('mcp'), mcp_id: type('crm') }),
)

const settings = fc.record(
  {
    voiceId: fc.constantFrom('low', 'ill', 'gone'),
    voiceModel: fc.constantFrom('tones-1', 'gone'),
    language: fc.constantFrom<string | string[]>('en', 'fr', ['en', 'fr', 'de'], 'multi'),
    channels: fc.constantFrom(['cloud'], ['phone'], ['cloud', 'phone']),
    ambientSound: fc.constantFrom('none', 'jungle'),
    fallbackVoiceIds: fc.constantFrom([], ['simulated/tones-1'], ['gone', 'simulated/tones-1:low', 'gone']),
  },
  { requiredKeys: [] },
)
const clear = fc.subarray(['voiceSpeed', 'volume', 'sttMode'])
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
const trunkId = fc.constantFrom('main', 'other', 'gone')
const from = fc.constantFrom('+15550000001', '+15550000002', '+15550000009')
const inFlow = { component_id: componentId }
const atNode = { component_id: componentId, node_id: nodeId }
const slotName = fc.constantFrom(
  'edges',
  'always_edge',
  'skip_response_edge',
  'else_edge',
  'edge',
  'success_edge',
  'failed_edge',
)

const speech = fc.record(
  { provider: fc.constantFrom('simulated', 'gone'), credential: nullable(secret), voiceId: nullable(type('low')) },
  { requiredKeys: [] },
)

const edits: fc.Arbitrary<object>[] = [
  fc.record({ type: type('agent.name'), name: fc.constantFrom('Ada', 'Bo') }),
  fc.record({ type: type('agent.settings'), values: settings, clear }),
  fc.record({
    type: type('agent.telephony'),
    value: nullable(fc.record({ trunkId, from }, { requiredKeys: ['trunkId'] })),
  }),
  fc.record({ type: type('agent.provider'), role: fc.constantFrom('stt', 'tts'), changes: speech }),
  fc.record({
    type: type('agent.provider'),
    role: type('llm'),
    changes: fc.record({ model, credential: nullable(credential) }, { requiredKeys: [] }),
  }),
  fc.record({
    type: type('agent.knowledge'),
    value: nullable(fc.record({ document_ids: fc.constantFrom(null, ['doc-1'], ['doc-1', 'gone'], ['gone']) })),
  }),
  fc.record({
    type: type('agent.analysis'),
    value: nullable(fc.record({ items: type('').map(() => []), model: nullable(modelRef) })),
  }),
  fc.record({ type: type('agent.recording'), value: fc.record({ required: fc.boolean(), channels: type('dual') }) }),
  fc.record({
    type: type('notification.put'),
    notification: fc.record({ url: type('https://example.test/'), secret }),
  }),
  fc.record({ type: type('notification.remove') }),
  fc.record({ type: type('action.put'), action }),
  fc.record({ type: type('action.remove'), action_id: actionId }),
  fc.record({
    type: type('phone.inbound_context'),
    value: nullable(fc.record({ action_id: actionId, variables: fc.subarray(['a', 'b']) })),
  }),
  fc.record({ type: type('flow.prompt'), text }),
  fc.record({ type: type('node.instruction'), ...atNode, instruction }),
  fc.record({ type: type('flow.node.put'), ...inFlow, node }),
  fc.record({ type: type('flow.node.remove'), ...atNode }),
  fc.record(
    { type: type('flow.edge.put'), ...atNode, slot: slotName, edge, index: fc.nat(3) },
    { requiredKeys: ['type', 'component_id', 'node_id', 'edge'] },
  ),
  fc.record({ type: type('flow.edge.remove'), ...atNode, edge_id: edgeId }),
  fc.record({ type: type('flow.start'), ...inFlow, node_id: nullable(nodeId) }),
  fc.record({
    type: type('flow.start'),
    component_id: fc.constant(null),
    node_id: nodeId,
    start_speaker: type('user'),
  }),
  fc.record({ type: type('flow.component.put'), component }),
  fc.record({ type: type('flow.component.remove'), component_id: fc.constantFrom('one', 'two', 'three') }),
  fc.record({ type: type('flow.variables'), values: fc.dictionary(name, text), clear: fc.constantFrom([], ['x']) }),
]

/** Edits of every type, parsed by the contract's schema. */
export const arbitraryEdit: fc.Arbitrary<DraftEdit> = fc.oneof(...edits).map(edit => draftEdit.parse(edit))
