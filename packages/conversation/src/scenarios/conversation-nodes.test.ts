import { describe, expect, it } from 'vitest'
import {
  asks,
  type DraftNode,
  ends,
  httpAction,
  if_,
  planOf,
  promptText,
  says,
  staticText,
  when,
} from '../testing/plans.ts'
import { systemOf } from '../testing/scripted-model.ts'
import { TextConversationHarness } from '../testing/text-conversation-harness.ts'

describe('a conversation node', () => {
  it('a conversation node says its static text once, lets the model answer and moves on by the edge that the model chooses', async () => {
    const talk = new TextConversationHarness(
      planOf([
        says('greet', 'Hello, this is the clinic.', { edges: [when('the caller wants to book', 'book')] }),
        asks('book', 'Ask for a day.', { edges: [when('a day was said', 'end')] }),
        ends(),
      ]),
    )
    expect(await talk.start()).toEqual(['-> greet (start)', 'agent: Hello, this is the clinic.'])
    talk.model.answers([{ say: 'We are open ' }, { say: 'until six.' }])
    expect(await talk.say('When do you close?')).toEqual(['user: When do you close?', 'agent: We are open until six.'])
    talk.model.answers([{ take: 'the caller wants to book' }], [{ say: 'Which day?' }])
    expect(await talk.say('I want to book')).toEqual(['user: I want to book', '-> book (edge)', 'agent: Which day?'])
    talk.model.answers([{ take: 'a day was said' }])
    expect(await talk.say('Monday')).toEqual(['user: Monday', '-> end (edge)', 'ended: completed by agent'])
  })

  it('the static text of a node is part of the next model request', async () => {
    const talk = new TextConversationHarness(
      planOf([says('greet', 'Hello, {{name}}.', { edges: [] })], {
        flow: { default_dynamic_variables: { name: 'Ana' } },
      }),
    )
    await talk.start()
    await talk.say('Hm')
    expect(systemOf(talk.model.requests[0]!)).toContain(
      'was to say this, once; what the caller heard of it stands in the conversation:\nHello, Ana.',
    )
  })

  it('a conversation node moves on by an equation without a model request', async () => {
    const talk = new TextConversationHarness(
      planOf([
        says('age', 'Your age, by keys?', {
          edges: [if_('current_digits >= 18', 'adult'), when('it is a child', 'child')],
        }),
        says('adult', 'Welcome.'),
        says('child', 'Ask your parents.'),
      ]),
    )
    await talk.start()
    expect(await talk.digits('44')).toEqual(['digits in: 44', '-> adult (edge)', 'agent: Welcome.'])
    expect(talk.model.requests).toEqual([])
  })

  it('a conversation node takes its always edge after any caller turn', async () => {
    const talk = new TextConversationHarness(
      planOf([says('name', 'Your name?', { always_edge: when('Always', 'next') }), says('next', 'Thanks.')]),
    )
    await talk.start()
    expect(await talk.say('Ana')).toEqual(['user: Ana', '-> next (edge)', 'agent: Thanks.'])
  })

  it('a conversation node takes its skip-response edge once it has spoken', async () => {
    const talk = new TextConversationHarness(
      planOf([
        asks('notice', 'Say that the call is recorded.', { skip_response_edge: when('Skip response', 'next') }),
        says('next', 'How can I help?'),
      ]),
    )
    talk.model.answers([{ say: 'This call is recorded.' }])
    expect(await talk.start()).toEqual([
      '-> notice (start)',
      'agent: This call is recorded.',
      '-> next (edge)',
      'agent: How can I help?',
    ])
  })

  it('a conversation node takes its else edge, without speaking, when the model chooses no other', async () => {
    const talk = new TextConversationHarness(
      planOf([
        says('pick', 'Red or blue?', {
          edges: [when('red', 'red'), when('blue', 'blue')],
          else_edge: when('Else', 'again'),
        }),
        says('red', 'Red.'),
        says('blue', 'Blue.'),
        says('again', 'There is red and blue.'),
      ]),
    )
    await talk.start()
    talk.model.answers([{ say: 'I would say none.' }])
    expect(await talk.say('Green')).toEqual(['user: Green', '-> again (else)', 'agent: There is red and blue.'])
    expect(talk.model.requests[0]).toMatchObject({
      toolChoice: 'auto',
      brief: {
        purpose: 'decide',
        transitions: [
          { tool: 'go_1', condition: 'red' },
          { tool: 'go_2', condition: 'blue' },
        ],
      },
    })
  })

  it('a flow that the caller opens waits for the first turn or for the opening silence', async () => {
    const plan = planOf([asks('hello', 'Greet.')], { flow: { start_speaker: 'user' } })
    const talk = new TextConversationHarness(plan)
    expect(await talk.start()).toEqual(['-> hello (start)'])
    talk.model.answers([{ say: 'Good morning.' }])
    expect(await talk.say('Hello?')).toEqual(['user: Hello?', 'agent: Good morning.'])
    const silent = new TextConversationHarness(plan)
    await silent.start()
    silent.model.answers([{ say: 'Anybody there?' }])
    expect(await silent.silence('opening')).toEqual(['agent: Anybody there?'])
  })
})

describe('a subagent', () => {
  const desk: DraftNode = {
    id: 'desk',
    type: 'subagent',
    instruction: promptText('Help with bookings.'),
    tool_ids: ['slots', 'hang_up', 'note'],
    edges: [if_('booked == yes', 'thanks')],
  }
  const actions = [
    httpAction('slots', { response_variables: { booked: '$.booked' } }),
    {
      action_id: 'hang_up',
      kind: 'end_call' as const,
      name: 'hang_up',
      speak_during_execution: true,
      instruction: staticText('Bye then.'),
    },
    {
      action_id: 'note',
      kind: 'extract_dynamic_variables' as const,
      name: 'note',
      variables: [{ type: 'number' as const, name: 'guests', description: 'How many come' }],
    },
  ]
  const plan = planOf([desk, says('thanks', 'Thanks.')], { actions })

  it('a subagent uses its tools until a result makes an edge true', async () => {
    const talk = new TextConversationHarness(plan)
    talk.model.answers([{ say: 'When?' }])
    await talk.start()
    expect(talk.model.requests[0]!.tools!.map(({ name }) => name)).toEqual(['slots', 'hang_up', 'note'])
    talk.actions.answers('slots', { body: { free: ['09:00'] } })
    talk.model.answers([{ call: 'slots', args: { day: 'Monday' } }], [{ say: 'Nine is free.' }])
    expect(await talk.say('Monday')).toEqual([
      'user: Monday',
      'slots started',
      'slots succeeded',
      'action set  ignored booked',
      'agent: Nine is free.',
    ])
    talk.actions.answers('slots', { body: { booked: 'yes' } })
    talk.model.answers([{ call: 'slots', args: { book: '09:00' } }])
    expect((await talk.say('Nine, please')).slice(-3)).toEqual([
      'action set booked',
      '-> thanks (edge)',
      'agent: Thanks.',
    ])
  })

  it('a subagent stores the variables that its extraction tool reads', async () => {
    const talk = new TextConversationHarness(plan)
    talk.model.answers([{ say: 'How many?' }])
    await talk.start()
    talk.model.answers([{ call: 'note', args: { guests: 4 } }], [{ say: 'Four, noted.' }])
    expect(await talk.say('Four')).toEqual(['user: Four', 'extract set guests', 'agent: Four, noted.'])
    expect(talk.session.conversation.variable('guests')).toBe('4')
  })

  it('a subagent says its last words and ends the call with the end_call tool', async () => {
    const talk = new TextConversationHarness(plan)
    talk.model.answers([{ say: 'When?' }])
    await talk.start()
    talk.model.answers([{ call: 'hang_up' }])
    expect(await talk.say('Never')).toEqual(['user: Never', 'agent: Bye then.', 'ended: agent_hung_up by agent'])
  })

  it('a subagent that never stops calling tools apologises', async () => {
    const talk = new TextConversationHarness(plan)
    talk.actions.answers('slots', { body: null })
    talk.model.answers([{ say: 'When?' }], ...Array.from({ length: 40 }, () => [{ call: 'slots' }]))
    await talk.start()
    const lines = await talk.say('Monday')
    expect(lines).toContain('error tool_loop')
    expect(lines.at(-1)).toMatch(/^agent: I'm sorry/)
    expect(talk.actions.sent).toHaveLength(2)
  })
})
