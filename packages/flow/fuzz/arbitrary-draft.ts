import fc from 'fast-check'
import type { Draft } from '../src/plan/draft.ts'
import { type DraftAction, type DraftNode, providers } from '../src/testing/flow-harness.ts'

const SIZE = 5
const COMPONENTS = ['one', 'two']
const VARIABLES = ['a', 'b', 'current_digits', 'current_not_understood', 'current_action_outcome']

const actions: DraftAction[] = [
  {
    action_id: 'plain',
    kind: 'http',
    name: 'plain',
    method: 'POST',
    url: 'https://example.test/',
    response_variables: { a: '$.a' },
  },
  {
    action_id: 'open',
    kind: 'http',
    name: 'open',
    method: 'POST',
    url: 'https://example.test/',
    parameters: { properties: { day: { type: 'string' } } },
    speak_after_execution: false,
  },
  { action_id: 'bye', kind: 'end_call', name: 'bye' },
  { action_id: 'keys', kind: 'press_digit', name: 'keys' },
  {
    action_id: 'move',
    kind: 'transfer_call',
    name: 'move',
    transfer_destination: { type: 'inferred', prompt: 'Where?' },
  },
  {
    action_id: 'note',
    kind: 'extract_dynamic_variables',
    name: 'note',
    variables: [{ type: 'string', name: 'b', description: 'B' }],
  },
]

const equations = fc.record({
  type: fc.constant('equation' as const),
  operator: fc.constantFrom('||' as const, '&&' as const),
  equations: fc.array(
    fc.record({
      left: fc.constantFrom(...VARIABLES, '{{a}}', 'x{{b}}'),
      operator: fc.constantFrom('==', '!=', '>', '<', 'contains', 'exists', 'not_exist'),
      right: fc.constantFrom('1', '2', '', '{{a}}'),
    }),
    { minLength: 1, maxLength: 2 },
  ),
})
const prompts = fc.record({
  type: fc.constant('prompt' as const),
  prompt: fc.constantFrom('they agree', 'they refuse {{a}}'),
})
const ids = Array.from({ length: SIZE }, (_, index) => `n${index}`)

const edgeBy = (conditions: fc.Arbitrary<object>) =>
  fc.record({ transition_condition: conditions, destination_node_id: fc.constantFrom(...ids) })
const anyEdge = edgeBy(fc.oneof(equations, prompts))
const slot = fc.option(edgeBy(prompts), { nil: null })
const instruction = fc.record({
  type: fc.constantFrom('prompt' as const, 'static_text' as const),
  text: fc.constantFrom('', '1', '2{{a}}'),
})
const pressing = fc.record({
  type: fc.constantFrom('prompt' as const, 'static_text' as const),
  text: fc.constantFrom('1', '2{{a}}'),
})
const globalSetting = fc.option(
  fc.record({
    condition: fc.constant('they need help'),
    cool_down: fc.option(fc.nat(3), { nil: null }),
    go_back_conditions: fc.array(fc.record({ transition_condition: fc.oneof(equations, prompts) }), { maxLength: 2 }),
  }),
  { nil: null, freq: 3 },
)

const listed = { edges: fc.array(anyEdge, { maxLength: 3 }), else_edge: slot }
const conversing = { instruction, ...listed, always_edge: slot, skip_response_edge: slot }
const base = { global_node_setting: globalSetting }

function nodeOf(components: readonly string[]): fc.Arbitrary<object> {
  const kinds: fc.Arbitrary<object>[] = [
    fc.record({ ...base, type: fc.constant('conversation'), ...conversing }),
    fc.record({
      ...base,
      type: fc.constant('subagent'),
      ...conversing,
      tool_ids: fc.subarray(actions.map(a => a.action_id)),
    }),
    fc.record({
      ...base,
      type: fc.constant('function'),
      tool_id: fc.constantFrom('plain', 'open'),
      wait_for_result: fc.boolean(),
      speak_during_execution: fc.boolean(),
      instruction,
      ...listed,
    }),
    fc.record({
      ...base,
      type: fc.constant('branch'),
      edges: fc.array(edgeBy(equations), { minLength: 1, maxLength: 3 }),
      else_edge: edgeBy(prompts),
    }),
    fc.record({
      ...base,
      type: fc.constant('extract_dynamic_variables'),
      variables: fc.constant([{ type: 'number', name: 'a', description: 'A' }]),
      ...listed,
    }),
    fc.record({ ...base, type: fc.constant('press_digit'), instruction: pressing, ...listed }),
    fc.record({
      ...base,
      type: fc.constant('transfer_call'),
      transfer_destination: fc.constantFrom(
        { type: 'predefined', number: '+15550100' },
        { type: 'predefined', number: '{{a}}' },
        { type: 'inferred', prompt: 'Where?' },
      ),
      edge: edgeBy(prompts),
    }),
    fc.record({ ...base, type: fc.constant('end'), instruction, speak_during_execution: fc.boolean() }),
  ]
  if (components.length > 0)
    kinds.push(
      fc.record({ ...base, type: fc.constant('component'), component_id: fc.constantFrom(...components), ...listed }),
    )
  return fc.oneof(...kinds)
}

const nodesOf = (components: readonly string[]) =>
  fc.array(nodeOf(components), { minLength: SIZE, maxLength: SIZE }).map(named)

/** Gives nodes and edges their ids. */
function named(nodes: readonly object[]): DraftNode[] {
  return nodes.map((node, index) => {
    let next = 0
    const withIds = structuredClone(node) as Record<string, unknown>
    const name = (edge: unknown) => {
      if (typeof edge === 'object' && edge !== null) Object.assign(edge, { id: `e${next++}` })
    }
    for (const key of ['edges', 'else_edge', 'always_edge', 'skip_response_edge', 'edge'])
      if (Array.isArray(withIds[key])) for (const edge of withIds[key]) name(edge)
      else name(withIds[key])
    const { go_back_conditions } = (withIds.global_node_setting ?? {}) as { go_back_conditions?: unknown[] }
    for (const condition of go_back_conditions ?? []) name(condition)
    return { ...withIds, id: ids[index] } as DraftNode
  })
}

/**
 * Drafts of every edge kind and every node type that a conversation executes, with components within components and
 * global nodes anywhere. The types that are only stored (code, mcp, agent_swap, sms, bridge_transfer, cancel_transfer)
 * are not among them: no interpreter enters them.
 */
export const arbitraryDraft: fc.Arbitrary<Draft> = fc
  .record({
    nodes: nodesOf(COMPONENTS),
    one: nodesOf(['two']),
    two: nodesOf([]),
    start_speaker: fc.constantFrom('agent' as const, 'user' as const),
  })
  .map(({ nodes, one, two, start_speaker }) => ({
    name: 'Arbitrary',
    settings: { channels: ['cloud' as const] },
    providers,
    actions,
    flow: {
      start_node_id: 'n0',
      start_speaker,
      nodes,
      default_dynamic_variables: { a: '1', b: '' },
      components: [
        { component_id: 'one', start_node_id: 'n0', nodes: one },
        { component_id: 'two', start_node_id: 'n0', nodes: two },
      ],
    },
  }))
