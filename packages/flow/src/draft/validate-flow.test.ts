import { describe, it } from 'vitest'
import { ends, if_, promptText, says, when } from '../testing/flow-harness.ts'
import { agent, type Case, expectFinding, flow, hi, http, transfer } from './testing/findings.ts'

const FLOWS: readonly Case[] = [
  ['flow_empty', 'a flow without nodes', flow([]), '/flow/nodes', ['Add a conversation node to start with']],
  [
    'flow_empty',
    'a component without nodes',
    flow([hi, ends()], { components: [{ component_id: 'c' }] }),
    '/flow/components/0/nodes',
    ['Add a conversation node to start with'],
  ],
  [
    'start_node_missing',
    'a flow without a start node',
    flow([hi, ends()], { start_node_id: 'x' }),
    '/flow/start_node_id',
    ['Start with "hi"'],
  ],
  [
    'edge_dangling',
    'a transfer without a failure edge in a flow without an end node',
    flow([transfer({ edge: null })]),
    '/flow/nodes/0/edge',
    ['Connect to a new end node'],
  ],
  [
    'node_unknown',
    'a component that does not exist',
    flow([{ id: 'c', type: 'component', component_id: 'gone' }, ends()]),
    '/flow/nodes/0/component_id',
    ['Remove "c"'],
  ],
  [
    'else_edge_missing',
    'a branch without an else edge',
    flow([{ id: 'b', type: 'branch', edges: [if_('else', 'end', 'n exists')] }, ends()]),
    '/flow/nodes/0/else_edge',
    ['Connect to "end"'],
  ],
  ['duplicate_id', 'two nodes with the same id', flow([hi, ends(), ends()]), '/flow/nodes/2/id', ['Remove this one']],
  [
    'duplicate_id',
    'two edges with the same id',
    flow([says('hi', '', { edges: [when('e', 'end')], else_edge: when('e', 'end') }), ends()]),
    '/flow/nodes/0/else_edge/id',
    ['Remove this one'],
  ],
  [
    'duplicate_id',
    'two components with the same id',
    flow([hi, ends()], {
      components: [
        { component_id: 'c', start_node_id: 'end', nodes: [ends()] },
        { component_id: 'c', start_node_id: 'end', nodes: [ends()] },
      ],
    }),
    '/flow/components/1/component_id',
    ['Remove this one'],
  ],
  [
    'duplicate_id',
    'two actions with the same id',
    agent({ actions: [http, { ...http, name: 'b' }] }),
    '/actions/1/action_id',
    ['Remove this one'],
  ],
  [
    'action_unknown',
    'a function whose action does not exist',
    flow([{ id: 'f', type: 'function', tool_id: 'gone', else_edge: when('e', 'end') }, ends()]),
    '/flow/nodes/0/tool_id',
    ['Remove "f"'],
  ],
  [
    'action_unknown',
    'a subagent with a tool that does not exist',
    flow(
      [{ id: 's', type: 'subagent', instruction: promptText('x'), tool_ids: ['look', 'gone'] }, ends()],
      {},
      { actions: [http] },
    ),
    '/flow/nodes/0/tool_ids/1',
    ['Leave "gone" out'],
  ],
  [
    'action_unknown',
    'an inbound context whose action does not exist',
    agent({ inbound_context: { action_id: 'gone', variables: [] } }),
    '/inbound_context/action_id',
    ['Remove the binding'],
  ],
  [
    'action_invalid',
    'two actions with the same name',
    agent({ actions: [http, { ...http, action_id: 'b' }] }),
    '/actions/1/name',
    ['Rename it to "look_up_2"'],
  ],
  [
    'inbound_action_invalid',
    'an inbound context whose action cannot serve it',
    agent({ actions: [http], inbound_context: { action_id: 'look', variables: [] } }),
    '/inbound_context/action_id',
    ['Change "look_up" into such an action', 'Remove the binding'],
  ],
]

describe('flow errors', () => {
  it.each(FLOWS)('the error %s blocks publishing of %s', (code, _, draft, path, fixes) =>
    expectFinding([code, 'error', draft, path, fixes]),
  )
})

const DANGLING: readonly Case[] = [
  [
    'edge_dangling',
    'an edge without a destination',
    flow([says('hi', '', { edges: [{ ...when('e', ''), destination_node_id: null }] }), ends()]),
    '/flow/nodes/0/edges/0/destination_node_id',
    ['Remove the edge "e"', 'Connect to "end"'],
  ],
  [
    'node_unknown',
    'an edge to a node that does not exist',
    flow([says('hi', '', { always_edge: when('e', 'gone') }), ends()]),
    '/flow/nodes/0/always_edge/destination_node_id',
    ['Remove the edge "e"', 'Connect to "end"'],
  ],
  [
    'node_unknown',
    'the only edge of a branch',
    flow([{ id: 'b', type: 'branch', edges: [if_('e', 'gone', 'n exists')], else_edge: when('f', 'end') }, ends()]),
    '/flow/nodes/0/edges/0/destination_node_id',
    ['Remove the edge "e"', 'Connect to "end"'],
  ],
]

describe('edges that lead nowhere', () => {
  it.each(DANGLING)('the warning %s names %s, which is never taken', (code, _, draft, path, fixes) =>
    expectFinding([code, 'warning', draft, path, fixes]),
  )
})
