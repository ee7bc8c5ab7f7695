import { describe, expect, it } from 'vitest'
import {
  asks,
  type DraftAction,
  type DraftNode,
  ends,
  if_,
  planOf,
  promptText,
  says,
  staticText,
  when,
} from '../testing/plans.ts'
import { systemOf } from '../testing/scripted-model.ts'
import { TextConversationHarness } from '../testing/text-conversation-harness.ts'

describe('a branch', () => {
  it.each([
    ['20', 'adult (edge)'],
    ['12', 'child (edge)'],
    ['', 'who (else)'],
  ])('a branch with age "%s" moves at once to %s', async (age, to) => {
    const talk = new TextConversationHarness(
      planOf([
        {
          id: 'split',
          type: 'branch',
          edges: [if_('age >= 18', 'adult'), if_('age < 18', 'child')],
          else_edge: when('Else', 'who'),
        },
        says('adult', 'A.'),
        says('child', 'C.'),
        says('who', 'W.'),
      ]),
      { variables: { run: { age } } },
    )
    expect((await talk.start())[1]).toBe(`-> ${to}`)
    expect(talk.model.requests).toEqual([])
  })
})

describe('an extraction', () => {
  const read: DraftNode = {
    id: 'read',
    type: 'extract_dynamic_variables',
    variables: [
      { type: 'string', name: 'name', description: 'The caller’s name', examples: ['Ana'], required: true },
      { type: 'enum', name: 'size', description: 'The size', choices: ['small', 'large'] },
      { type: 'number', name: 'count', description: 'How many' },
    ],
    edges: [if_('size == large', 'large')],
    else_edge: when('Else', 'other'),
  }
  const plan = planOf([
    says('ask', 'Your order?', { always_edge: when('Always', 'read') }),
    read,
    says('large', 'Large for {{name}}.'),
    says('other', 'Pardon, {{name}}?'),
  ])

  it('an extraction stores variables from the conversation and moves on with them', async () => {
    const talk = new TextConversationHarness(plan)
    await talk.start()
    talk.model.answers([{ call: 'keep_variables', args: { name: 'Bob', size: 'LARGE', count: 'two', more: 1 } }])
    expect(await talk.say('Bob here, a large one')).toEqual([
      'user: Bob here, a large one',
      '-> read (edge)',
      'extract set name,size',
      '-> large (edge)',
      'agent: Large for Bob.',
    ])
    expect(talk.model.requests[0]).toMatchObject({
      toolChoice: { name: 'keep_variables' },
      tools: [
        {
          parameters: {
            properties: {
              name: { type: 'string', examples: ['Ana'] },
              size: { type: 'string', enum: ['small', 'large'] },
              count: { type: 'number' },
            },
            required: ['name'],
          },
        },
      ],
      brief: { purpose: 'variables', tool: 'keep_variables' },
    })
    expect(systemOf(talk.model.requests[0]!)).toContain('keep_variables')
  })

  it('an extraction that finds nothing moves on without variables', async () => {
    const talk = new TextConversationHarness(plan)
    await talk.start()
    expect((await talk.say('Hm')).slice(-1)).toEqual(['agent: Pardon, ?'])
  })
})

describe('a press_digit node', () => {
  const phone = { settings: { channels: ['phone' as const] } }

  it('a press_digit node sends its static digits and listens to the far end', async () => {
    const talk = new TextConversationHarness(
      planOf(
        [
          {
            id: 'menu',
            type: 'press_digit',
            instruction: staticText('1w{{room}}'),
            edges: [when('a person answered', 'talk')],
          },
          asks('talk', 'Talk.'),
        ],
        phone,
      ),
      { variables: { run: { room: '42' } } },
    )
    expect(await talk.start()).toEqual(['-> menu (start)', 'digits out: 1w42'])
    talk.model.answers([{ take: 'a person answered' }], [{ say: 'Hello.' }])
    expect(await talk.say('Front desk.')).toEqual(['user: Front desk.', '-> talk (edge)', 'agent: Hello.'])
  })

  it('a press_digit node with a prompt asks the model for digits at every menu', async () => {
    const talk = new TextConversationHarness(
      planOf(
        [
          says('listen', 'Hello.', { always_edge: when('Always', 'menu') }),
          {
            id: 'menu',
            type: 'press_digit',
            instruction: promptText('Reach sales.'),
            edges: [when('sales answered', 'talk')],
          },
          asks('talk', 'Talk.'),
        ],
        phone,
      ),
    )
    await talk.start()
    talk.model.answers([{ call: 'press_digits', args: { digits: '2' } }])
    expect(await talk.say('For sales press two.')).toEqual([
      'user: For sales press two.',
      '-> menu (edge)',
      'digits out: 2',
    ])
    talk.model.answers([], [{ call: 'press_digits', args: { digits: '1' } }])
    expect(await talk.say('For new orders press one.')).toEqual(['user: For new orders press one.', 'digits out: 1'])
  })
})

describe('a transfer', () => {
  const operator: DraftAction = {
    action_id: 'operator',
    kind: 'transfer_call',
    name: 'operator',
    transfer_destination: { type: 'predefined', number: '+15550111' },
  }
  const plan = (destination: Extract<DraftNode, { type: 'transfer_call' }>['transfer_destination']) =>
    planOf(
      [
        says('hello', 'Hello.', { always_edge: when('Always', 'connect') }),
        {
          id: 'connect',
          type: 'transfer_call',
          transfer_destination: destination,
          edge: when('Transfer failed', 'sorry'),
        },
        says('sorry', 'Nobody answers.'),
        ends(),
      ],
      { settings: { channels: ['phone'] }, actions: [operator] },
    )
  const named = plan({ type: 'predefined', number: '+15550100' })

  it('an accepted transfer ends the conversation', async () => {
    const talk = new TextConversationHarness(named, { transfers: 'taken' })
    await talk.start()
    expect((await talk.say('A person')).slice(1)).toEqual([
      '-> connect (edge)',
      'call.transfer started',
      'call.transfer succeeded',
      'ended: transferred by agent',
    ])
  })

  it('a failed transfer takes the failure edge', async () => {
    const talk = new TextConversationHarness(named)
    await talk.start()
    expect((await talk.say('A person')).slice(-3)).toEqual([
      'call.transfer failed',
      '-> sorry (failure)',
      'agent: Nobody answers.',
    ])
  })

  it('a transfer to a forbidden number is not made, even when the caller named the number', async () => {
    const judged: string[] = []
    const talk = new TextConversationHarness(plan({ type: 'inferred', prompt: 'The number the caller gave' }), {
      transferPolicy: destination => {
        judged.push(destination)
        return { decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }
      },
    })
    await talk.start()
    talk.model.answers([{ call: 'transfer_to', args: { destination: '+1900555' } }])
    expect((await talk.say('To +1 900 555')).slice(-5)).toEqual([
      'call.transfer started',
      'error policy_denied',
      'call.transfer failed',
      '-> sorry (failure)',
      'agent: Nobody answers.',
    ])
    expect(judged).toEqual(['+1900555'])
    expect(talk.model.requests[0]!.brief).toMatchObject({ purpose: 'transfer_destination', tool: 'transfer_to' })
  })
})

describe('an end', () => {
  it('an end node without an instruction ends the conversation at once', async () => {
    const talk = new TextConversationHarness(planOf([ends()]))
    expect(await talk.start()).toEqual(['-> end (start)', 'ended: completed by agent'])
  })

  it('an end node with an instruction ends the conversation after its last words', async () => {
    const end: DraftNode = { id: 'end', type: 'end', speak_during_execution: true, instruction: staticText('Bye.') }
    expect(await new TextConversationHarness(planOf([end])).start()).toEqual([
      '-> end (start)',
      'agent: Bye.',
      'ended: completed by agent',
    ])
  })
})

describe('a component', () => {
  it('a component runs to its end and returns to the calling node, whose edges are then taken', async () => {
    const plan = planOf(
      [
        {
          id: 'identify',
          type: 'component',
          component_id: 'id',
          edges: [if_('name exists', 'thanks')],
          else_edge: when('Else', 'end'),
        },
        says('thanks', 'Thank you, {{name}}.'),
        ends(),
      ],
      {
        flow: {
          components: [
            {
              component_id: 'id',
              start_node_id: 'ask',
              nodes: [
                says('ask', 'Your name?', { always_edge: when('Always', 'read') }),
                {
                  id: 'read',
                  type: 'extract_dynamic_variables',
                  variables: [{ type: 'string', name: 'name', description: 'Name' }],
                  edges: [],
                  else_edge: when('Else', 'done'),
                },
                ends('done'),
              ],
            },
          ],
        },
      },
    )
    const talk = new TextConversationHarness(plan)
    expect(await talk.start()).toEqual(['-> identify (start)', '-> id/ask (start)', 'agent: Your name?'])
    talk.model.answers([{ call: 'keep_variables', args: { name: 'Ana' } }])
    expect(await talk.say('Ana')).toEqual([
      'user: Ana',
      '-> id/read (edge)',
      'extract set name',
      '-> id/done (else)',
      '-> identify (return)',
      '-> thanks (edge)',
      'agent: Thank you, Ana.',
    ])
    expect(talk.session.conversation.utterances.map(({ node_id }) => node_id)).toEqual(['id/ask', 'id/ask', 'thanks'])
  })
})
