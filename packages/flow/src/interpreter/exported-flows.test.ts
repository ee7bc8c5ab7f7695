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

const user = (content: string) => ({ role: 'user', content })
const promptIn = (talk: FlowHarness) => talk.outputs.findLast(output => output.type === 'prompt')

describe('a branch with a prompt', () => {
  const branch: DraftNode = {
    id: 'split',
    type: 'branch',
    edges: [when('angry', 'a', 'the caller is angry'), if_('adult', 'b', 'age >= 18')],
    else_edge: when('else', 'c', 'Else'),
  }
  const talk = (age: string) => {
    const started = new FlowHarness(draftOf([branch, says('a', 'A'), says('b', 'B'), says('c', 'C')]), {
      variables: { run: { age } },
    })
    return { started, lines: started.start() }
  }

  it('the model chooses where no equation holds, and the else edge is taken where it chooses none', () => {
    const { started, lines } = talk('12')
    expect(lines).toEqual(['-> split (start)', 'decide: [edge:angry]'])
    expect(started.choose('edge:angry')[0]).toBe('-> a (edge angry)')
    const other = talk('12').started
    expect(other.choose(null)[0]).toBe('-> c (else else)')
  })

  it('an equation that holds is taken without the model', () => expect(talk('18').lines[1]).toBe('-> b (edge adult)'))
})

describe('an edge that leads nowhere', () => {
  it('an edge without a destination is not offered, and the else edge is taken instead', () => {
    const dangling = { ...when('lost', ''), destination_node_id: null }
    const node = asks('hi', 'Hello', { edges: [dangling, when('gone', 'nobody')], else_edge: when('else', 'end') })
    const talk = new FlowHarness(draftOf([node, ends()]))
    expect(talk.start()).toEqual(['-> hi (start)', 'prompt enter: Hello'])
    talk.spoken()
    expect(talk.user('Well')[0]).toBe('-> end (else else)')
  })

  it('a branch whose every edge leads nowhere lets the model speak on', () => {
    const branch: DraftNode = {
      id: 'b',
      type: 'branch',
      edges: [{ ...if_('e', '', 'n exists'), destination_node_id: null }],
      else_edge: { ...when('else', ''), destination_node_id: null },
    }
    expect(new FlowHarness(draftOf([branch, ends()])).start()).toEqual(['-> b (start)', 'prompt stuck: '])
  })

  it('a failed transfer whose edge leads nowhere lets the model speak on', () => {
    const node: DraftNode = {
      id: 't',
      type: 'transfer_call',
      transfer_destination: { type: 'predefined', number: '+15550100' },
      edge: { ...when('failed', ''), destination_node_id: null },
    }
    const talk = new FlowHarness(draftOf([node, ends()]))
    talk.start()
    expect(talk.transferred('failed')).toEqual(['prompt stuck: '])
  })
})

describe('a transfer that speaks', () => {
  const transfer = (rest: object): DraftNode => ({
    id: 't',
    type: 'transfer_call',
    transfer_destination: { type: 'predefined', number: '+15550100' },
    edge: when('failed', 'end'),
    speak_during_execution: true,
    ...rest,
  })

  it('the words are said first, and the transfer follows when they were heard, interrupted or not', () => {
    for (const interrupted of [false, true]) {
      const talk = new FlowHarness(draftOf([transfer({ instruction: staticText('One moment.') }), ends()]))
      expect(talk.start()).toEqual(['-> t (start)', 'say: One moment.'])
      expect(talk.user('Hello?')).toEqual([])
      expect(talk.spoken(interrupted)).toEqual(['transfer to +15550100'])
      expect(talk.transferred('taken')).toEqual(['end: transferred by agent'])
    }
  })

  it('a prompt lets the model say the words', () => {
    const talk = new FlowHarness(draftOf([transfer({ instruction: promptText('Say who answers.') }), ends()]))
    expect(talk.start()).toEqual(['-> t (start)', 'prompt during_execution: Say who answers.'])
    expect(talk.spoken()).toEqual(['transfer to +15550100'])
  })
})

describe('tools of a conversation node', () => {
  const action = { action_id: 'look', kind: 'http', name: 'look_up', method: 'GET', url: 'https://e.test/' } as const

  it('the model may call the actions that the node lists', () => {
    const node = asks('hi', 'Hello', { tool_ids: ['look'] })
    const talk = new FlowHarness(draftOf([node], {}, { actions: [action] }))
    expect(talk.start()).toEqual(['-> hi (start)', 'prompt enter: Hello {look_up}'])
    expect(talk.call('look')).toEqual(['run look #0 {}'])
  })

  it('a tool that speaks while it runs tells the model what to say, with the variables filled in', () => {
    const speaking = {
      ...action,
      description: 'Looks it up',
      speak_during_execution: true,
      execution_message_description: 'Say that you look it up, {{customer name}}.',
    }
    const node = asks('hi', 'Hello', { tool_ids: ['look'] })
    const talk = new FlowHarness(draftOf([node], {}, { actions: [speaking] }), {
      variables: { run: { 'customer name': 'Ada' } },
    })
    talk.start()
    expect(promptIn(talk)?.tools[0]?.description).toBe(
      'Looks it up\nTogether with the call, speak to the caller: Say that you look it up, Ada.',
    )
  })
})

describe('training examples', () => {
  it('examples of transitions and of global nodes are part of the conditions that the model judges', () => {
    const node = asks('hi', 'Hello', {
      edges: [when('book', 'end', 'wants to book')],
      finetune_transition_examples: [
        { transcript: [{ role: 'agent', content: 'Yes?' }, user('Tuesday, please')], destination_node_id: 'end' },
        { transcript: [user('elsewhere')], destination_node_id: 'other' },
        { transcript: [{ role: 'tool_call_invocation', name: 'x' }], destination_node_id: 'end' },
      ],
    })
    const help = {
      ...says('help', 'Help'),
      global_node_setting: {
        condition: 'needs a person',
        positive_finetune_examples: [{ transcript: [user('Get me a human')] }],
        negative_finetune_examples: [{ transcript: [user('How are you')] }],
      },
    }
    const talk = new FlowHarness(draftOf([node, help, ends()]))
    talk.start()
    talk.spoken()
    talk.user('Well')
    expect(promptIn(talk)?.choices.map(({ condition }) => condition)).toEqual([
      'wants to book For example after "Tuesday, please".',
      'needs a person For example after "Get me a human". Not after "How are you".',
    ])
  })

  it('examples of a conversation are part of the instruction', () => {
    const node = asks('hi', 'Hello', {
      finetune_conversation_examples: [{ transcript: [user('Hi'), { role: 'agent', content: 'Good day!' }] }],
    })
    const talk = new FlowHarness(draftOf([node]))
    talk.start()
    expect(promptIn(talk)?.instruction.text).toBe('Hello\n\nExamples of this step:\nCaller: Hi\nYou: Good day!')
  })
})

describe('a shared component', () => {
  const node: DraftNode = {
    id: 'c',
    type: 'component',
    component_id: 'shared',
    component_type: 'shared',
    else_edge: when('else', 'end'),
  }

  it('a shared component runs where the flow has a copy of it, and is passed over where it has none', () => {
    const components = [{ component_id: 'shared', start_node_id: 'in', nodes: [says('in', 'Inside')] }]
    expect(new FlowHarness(draftOf([node, ends()], { components })).start()).toContain('say: Inside')
    expect(new FlowHarness(draftOf([node, ends()])).start()).toEqual([
      '-> c (start)',
      '-> end (else else)',
      'end: completed by agent',
    ])
  })
})

describe('a variable whose name has spaces', () => {
  it('its value is filled in, compared and extracted', () => {
    const node: DraftNode = {
      id: 'x',
      type: 'extract_dynamic_variables',
      variables: [{ type: 'string', name: 'customer name', description: 'Name' }],
      edges: [if_('known', 'hi', '{{customer_name}} exists')],
      else_edge: when('else', 'end'),
    }
    const equations = [{ left: '{{customer name}}', operator: '==' as const, right: 'Ada' }]
    node.edges = [{ id: 'known', transition_condition: { type: 'equation', equations }, destination_node_id: 'hi' }]
    const talk = new FlowHarness(draftOf([node, says('hi', 'Hello {{ customer name }}!'), ends()]))
    talk.start()
    expect(talk.infer({ item_1: 'Ada' })).toEqual([
      'extract set customer name',
      '-> hi (edge known)',
      'say: Hello Ada!',
    ])
  })
})
