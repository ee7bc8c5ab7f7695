import { describe, expect, it } from 'vitest'
import {
  asks,
  type DraftNode,
  draftOf,
  ends,
  FlowHarness,
  if_,
  promptText,
  says,
  staticText,
  when,
} from '../testing/flow-harness.ts'

describe('a code node', () => {
  const node = (rest: object = {}): DraftNode => ({
    id: 'sum',
    type: 'code',
    code: 'return { n: 2 }',
    response_variables: { total: '$.n' },
    edges: [if_('two', 'end', 'total == 2')],
    else_edge: when('else', 'hi'),
    ...rest,
  })

  it('its result sets variables, which decide the edge', () => {
    const talk = new FlowHarness(draftOf([node(), says('hi', 'Hi'), ends()]))
    expect(talk.start()).toEqual(['-> sum (start)', 'run node/sum #0 {}'])
    expect(talk.result({ n: 2 })).toEqual(['action set total', '-> end (edge two)', 'end: completed by agent'])
  })

  it('code that fails leaves the node by its else edge, and the outcome says so', () => {
    const talk = new FlowHarness(draftOf([node(), says('hi', '{{current_action_outcome}}'), ends()]))
    talk.start()
    expect(talk.result({ error: 'x' }, 'failed')).toEqual(['-> hi (else else)', 'say: failed'])
  })

  it('a node that speaks says its words while the code runs', () => {
    const speaking = node({ speak_during_execution: true, instruction: staticText('One moment.') })
    expect(new FlowHarness(draftOf([speaking, ends()])).start()).toEqual([
      '-> sum (start)',
      'say: One moment.',
      'run node/sum #0 {}',
    ])
  })

  it('code as a tool of the model sets its variables, and the model speaks about the result', () => {
    const action = { action_id: 'calc', kind: 'code', name: 'calc', code: 'return 1' } as const
    const talk = new FlowHarness(draftOf([asks('hi', 'Hello', { tool_ids: ['calc'] })], {}, { actions: [action] }))
    talk.start()
    expect(talk.call('calc')).toEqual(['run calc #0 {}'])
    expect(talk.result(1)).toEqual(['prompt tool_result: Hello {calc}'])
  })
})

describe('an sms node', () => {
  const node = (instruction: object): DraftNode =>
    ({
      id: 'text',
      type: 'sms',
      instruction,
      success_edge: when('sent', 'end'),
      failed_edge: when('unsent', 'hi'),
    }) as DraftNode

  it.each([
    ['succeeded', '-> end (edge sent)'],
    ['failed', '-> hi (failure unsent)'],
    ['uncertain', '-> hi (failure unsent)'],
  ] as const)('a message that %s takes the edge: %s', (outcome, line) => {
    const talk = new FlowHarness(draftOf([node(staticText('Quay 1')), says('hi', 'Hi'), ends()]))
    expect(talk.start()).toEqual(['-> text (start)', 'run node/text #0 {}'])
    expect(talk.result(null, outcome)[0]).toBe(line)
  })

  it('the model writes the message of a prompt, and without one the failed edge is taken', () => {
    const written = new FlowHarness(draftOf([node(promptText('Confirm')), says('hi', 'Hi'), ends()]))
    expect(written.start()).toEqual(['-> text (start)', 'infer arguments: Confirm'])
    expect(written.infer({ message: 'Booked.' })).toEqual(['run node/text #0 {"message":"Booked."}'])
    const unwritten = new FlowHarness(draftOf([node(promptText('Confirm')), says('hi', 'Hi'), ends()]))
    unwritten.start()
    expect(unwritten.infer(null)[0]).toBe('-> hi (failure unsent)')
  })
})

describe('an mcp node', () => {
  it('the model infers the arguments of the tool, and its answer sets variables', () => {
    const node: DraftNode = {
      id: 'find',
      type: 'mcp',
      mcp_id: 'calendar',
      mcp_tool_name: 'search',
      parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
      response_variables: { slot: '$.slots[0]' },
      else_edge: when('else', 'hi'),
    }
    const talk = new FlowHarness(draftOf([node, says('hi', '{{slot}}')]))
    expect(talk.start()).toEqual(['-> find (start)', 'infer arguments: '])
    expect(talk.infer({ day: 'Friday' })).toEqual(['run node/find #0 {"day":"Friday"}'])
    expect(talk.result({ slots: ['10:00'] })).toEqual(['action set slot', '-> hi (else else)', 'say: 10:00'])
  })
})

describe('an agent_swap node', () => {
  it('the conversation ends when another agent takes over, else the failure edge is taken', () => {
    const swap: DraftNode = { id: 's', type: 'agent_swap', agent_id: '{{team}}', edge: when('failed', 'end') }
    const taken = new FlowHarness(draftOf([swap, ends()], { default_dynamic_variables: { team: 'billing' } }))
    expect(taken.start()).toEqual(['-> s (start)', 'swap to billing'])
    expect(taken.transferred('taken')).toEqual(['end: transferred by agent'])
    const refused = new FlowHarness(draftOf([swap, ends()], { default_dynamic_variables: { team: 'billing' } }))
    refused.start()
    expect(refused.transferred('failed')).toEqual(['-> end (failure failed)', 'end: completed by agent'])
  })
})

describe('nodes that wait for their own support', () => {
  it('a bridge_transfer node says its words and ends', () => {
    const instruction = staticText('Goodbye.')
    const bridge: DraftNode = { id: 'b', type: 'bridge_transfer', instruction, speak_during_execution: true }
    const talk = new FlowHarness(draftOf([bridge]))
    expect(talk.start()).toEqual(['-> b (start)', 'say: Goodbye.'])
    expect(talk.spoken()).toEqual(['end: completed by agent'])
  })
})

describe('flex mode', () => {
  const nodes = [asks('book', 'Book', { edges: [when('done', 'end')] }), asks('bill', 'Talk about the bill'), ends()]

  it('on a turn the model may go to any other node that converses', () => {
    const talk = new FlowHarness(draftOf(nodes, { flex_mode: true }))
    talk.start()
    talk.spoken()
    expect(talk.user('My bill is wrong')).toEqual(['prompt user_turn: Book [edge:done] [flex:bill]'])
    expect(talk.choose('flex:bill')).toEqual(['-> bill (edge)', 'prompt enter: Talk about the bill'])
  })

  it('without flex mode only the edges lead on', () => {
    const talk = new FlowHarness(draftOf(nodes))
    talk.start()
    talk.spoken()
    expect(talk.user('My bill is wrong')).toEqual(['prompt user_turn: Book [edge:done]'])
  })
})
