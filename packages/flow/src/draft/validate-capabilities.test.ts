import { describe, expect, it } from 'vitest'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { ends, staticText, when } from '../testing/flow-harness.ts'
import { type Case, expectFinding, flow, hi, transfer } from './testing/findings.ts'
import { validate } from './validate.ts'

const CAPABILITIES: readonly Case[] = [
  [
    'unsupported_capability',
    'a function node that runs an action of another kind',
    flow(
      [{ id: 'f', type: 'function', tool_id: 'bye', else_edge: when('e', 'end') }, ends()],
      {},
      {
        actions: [{ action_id: 'bye', kind: 'end_call', name: 'bye' }],
      },
    ),
    '/flow/nodes/0/tool_id',
    ['Remove "f"'],
  ],
  [
    'unsupported_capability',
    'a component within itself',
    flow([hi, ends()], {
      components: [
        { component_id: 'x', start_node_id: 'y', nodes: [{ id: 'y', type: 'component', component_id: 'y' }] },
        { component_id: 'y', start_node_id: 'x', nodes: [{ id: 'x', type: 'component', component_id: 'x' }] },
      ],
    }),
    '/flow/components/0/nodes/0/component_id',
    ['Remove "y"'],
  ],
  [
    'unsupported_capability',
    'digits that no keypad has',
    flow([{ id: 'p', type: 'press_digit', instruction: staticText('one'), else_edge: when('e', 'end') }, ends()]),
    '/flow/nodes/0/instruction/text',
    ['Let the model choose the digits by this text'],
  ],
]

describe('unsupported capabilities', () => {
  it.each(CAPABILITIES)('the error %s blocks publishing of %s', (code, _, draft, path, fixes) =>
    expectFinding([code, 'error', draft, path, fixes]),
  )
})

const DIFFERENCES: readonly Case[] = [
  [
    'not_executed',
    'a node that hands over to an agent that it does not name',
    flow([{ id: 's', type: 'agent_swap', agent_id: '', edge: when('failed', 'end') }, ends()]),
    '/flow/nodes/0/agent_id',
    [],
  ],
  [
    'not_executed',
    'a node that completes a warm transfer',
    flow([{ id: 'b', type: 'bridge_transfer' }]),
    '/flow/nodes/0/type',
    [],
  ],
  [
    'not_executed',
    'a text message without a service that sends it',
    flow([{ id: 's', type: 'sms', instruction: staticText('Hi'), failed_edge: when('failed', 'end') }, ends()]),
    '/flow/nodes/0/type',
    [],
  ],
  [
    'not_executed',
    'a call of an MCP server that the flow does not have',
    flow([{ id: 'm', type: 'mcp', mcp_id: 'gone', mcp_tool_name: 'x', else_edge: when('else', 'end') }, ends()]),
    '/flow/nodes/0/mcp_id',
    [],
  ],
  [
    'not_executed',
    'a warm transfer',
    flow([transfer({ transfer_option: { type: 'warm_transfer' } }), ends()]),
    '/flow/nodes/0/transfer_option/type',
    ['Transfer by REFER'],
  ],
  [
    'not_executed',
    'a transfer by INVITE',
    flow([transfer({ transfer_option: { type: 'cold_transfer', cold_transfer_mode: 'sip_invite' } }), ends()]),
    '/flow/nodes/0/transfer_option/cold_transfer_mode',
    ['Transfer by REFER'],
  ],
  [
    'not_executed',
    'a transfer to an extension',
    flow([transfer({ transfer_destination: { type: 'predefined', number: '+15550100', extension: '1' } }), ends()]),
    '/flow/nodes/0/transfer_destination/extension',
    ['Leave the extension out'],
  ],
  [
    'not_executed',
    'a shared component that this flow does not have',
    flow([
      { id: 'c', type: 'component', component_id: 'x', component_type: 'shared', else_edge: when('e', 'end') },
      ends(),
    ]),
    '/flow/nodes/0/component_id',
    [],
  ],
  [
    'not_executed',
    'a transfer whose instruction is not said',
    flow([transfer({ instruction: staticText('One moment.') }), ends()]),
    '/flow/nodes/0/instruction',
    ['Say it', 'Leave "instruction" out'],
  ],
]

describe('what runs differently from how it is written', () => {
  it.each(DIFFERENCES)('the warning %s names %s', (code, _, draft, path, fixes) =>
    expectFinding([code, 'warning', draft, path, fixes]),
  )

  it('a branch that asks the model can be published', () => {
    const branch = { id: 'b', type: 'branch' as const, edges: [when('x', 'end')], else_edge: when('e', 'end') }
    expect(validate(flow([branch, ends()]), draftEnvironment).filter(({ severity }) => severity === 'error')).toEqual(
      [],
    )
  })
})
