import { describe, expect, it } from 'vitest'
import {
  asks,
  type DraftAction,
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
import { type Answer, linesOf, systemOf } from '../testing/scripted-model.ts'
import { settle, TextConversationHarness } from '../testing/text-conversation-harness.ts'

const slots = httpAction('slots', {
  description: 'Free times on a day',
  parameters: {
    type: 'object',
    properties: { day: { type: 'string' }, clinic: { const: '{{clinic}}' } },
    required: ['day', 'clinic'],
  },
  response_variables: { slot: '$.slots[0]' },
})
const ping = httpAction('ping', { response_variables: { pong: 'pong' } })
const actions = [slots, ping]
const at = { flow: { default_dynamic_variables: { clinic: 'North' } }, actions }

describe('a function', () => {
  const look: DraftNode = {
    id: 'look',
    type: 'function',
    tool_id: 'slots',
    edges: [if_('slot exists', 'found')],
    else_edge: when('Else', 'sorry'),
  }
  const rest = [says('found', 'At {{slot}}.'), says('sorry', 'Sorry.')]
  const plan = planOf([says('ask', 'Which day?', { always_edge: when('Always', 'look') }), look, ...rest], at)

  it('a function infers its arguments from the conversation, runs its action and moves on by the result', async () => {
    const talk = new TextConversationHarness(plan)
    await talk.start()
    talk.actions.answers('slots', { body: { slots: ['09:30'] } }, 0)
    talk.model.answers([{ call: 'use_arguments', args: { day: 'Monday' } }])
    expect(await talk.say('On Monday')).toEqual([
      'user: On Monday',
      '-> look (edge)',
      'slots started',
      'slots succeeded',
      'action set slot',
      '-> found (edge)',
      'agent: At 09:30.',
    ])
    expect(talk.actions.sent).toEqual(['slots {"day":"Monday","clinic":"North"}'])
    const [request] = talk.model.requests
    expect(request).toMatchObject({
      toolChoice: { name: 'use_arguments' },
      tools: [{ name: 'use_arguments', parameters: { properties: { day: { type: 'string' } }, required: ['day'] } }],
      brief: { purpose: 'arguments', tool: 'use_arguments', prompt: 'Free times on a day' },
    })
    expect(linesOf(request!.messages)).toEqual(['agent: Which day?', 'user: On Monday'])
    expect(linesOf(talk.session.conversation.memory).slice(2, 4)).toEqual([
      'call slots {"day":"Monday","clinic":"North"}',
      'result {"slots":["09:30"]}',
    ])
  })

  it.each([
    ['has failed', { failed: 'http_500' }],
    ['is uncertain', { uncertain: 'timeout' }],
  ])('a function whose action %s sets no variables', async (_name, result) => {
    const talk = new TextConversationHarness(plan)
    await talk.start()
    talk.actions.answers('slots', result)
    talk.model.answers([{ call: 'use_arguments', args: { day: 'Monday' } }])
    expect((await talk.say('Monday')).slice(-2)).toEqual(['-> sorry (else)', 'agent: Sorry.'])
  })

  it.each<[string, Answer[]]>([
    ['nothing', [[]]],
    ['no object, twice', [[{ call: 'use_arguments', args: '[1]' }], [{ call: 'use_arguments', args: '"x"' }]]],
    ['another tool, twice', [[{ call: 'slots' }], [{ call: 'slots' }]]],
  ])('a function sends no action when the model answers the argument request with %s', async (_name, answers) => {
    const talk = new TextConversationHarness(plan)
    await talk.start()
    talk.model.answers(...answers)
    expect((await talk.say('Monday')).slice(-2)).toEqual(['-> sorry (else)', 'agent: Sorry.'])
    expect(talk.actions.sent).toEqual([])
  })

  it('a function asks again after invalid arguments and runs with the corrected ones', async () => {
    const talk = new TextConversationHarness(plan)
    await talk.start()
    talk.actions.answers('slots', { body: {} })
    talk.model.answers(
      [{ call: 'use_arguments', args: '{"day"' }],
      [{ call: 'use_arguments', args: { day: 'Monday' } }],
    )
    await talk.say('Monday')
    expect(talk.actions.sent).toHaveLength(1)
  })

  it('a function with speak_during_execution speaks while its action runs', async () => {
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'ping',
      speak_during_execution: true,
      instruction: promptText('Ask for patience.'),
      edges: [when('it went well', 'end')],
      else_edge: when('Else', 'end'),
    }
    const talk = new TextConversationHarness(planOf([node, ends()], at))
    talk.model.answers([{ say: 'One moment.' }], [{ take: 'it went well' }])
    const started = talk.start()
    await settle()
    expect(talk.lines()).toEqual(['-> f (start)', 'ping started', 'agent: One moment.'])
    expect(talk.model.requests[0]!.brief).toMatchObject({ purpose: 'reply', reason: 'during_execution' })
    talk.actions.resolve({ body: { pong: 1 } })
    expect(await started).toEqual(['ping succeeded', 'action set pong', '-> end (edge)', 'ended: completed by agent'])
  })

  it('a function with wait_for_result false moves on at once, and its late result still sets variables', async () => {
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'ping',
      wait_for_result: false,
      speak_during_execution: true,
      instruction: staticText('Noted.'),
      edges: [],
      else_edge: when('Else', 'next'),
    }
    const talk = new TextConversationHarness(planOf([node, says('next', 'Anything else?')], at))
    expect(await talk.start()).toEqual([
      '-> f (start)',
      'agent: Noted.',
      'ping started',
      '-> next (else)',
      'agent: Anything else?',
    ])
    talk.actions.resolve({ body: { pong: 'late' } })
    await talk.session.conversation.settled()
    expect(talk.lines()).toEqual(['ping succeeded', 'action set pong'])
    expect(talk.session.conversation.variable('pong')).toBe('late')
  })

  it('a caller who talks during a function is transcribed, and the action runs once', async () => {
    const node: DraftNode = { id: 'f', type: 'function', tool_id: 'ping', edges: [], else_edge: when('Else', 'next') }
    const talk = new TextConversationHarness(planOf([node, says('next', 'Done.')], at))
    const started = talk.start()
    await settle()
    talk.session.conversation.userTurn({ text: 'Are you there?', span: null, observed_ms: null })
    talk.actions.resolve({ body: {} })
    expect((await started).filter(line => !line.startsWith('action'))).toEqual([
      '-> f (start)',
      'ping started',
      'user: Are you there?',
      'ping succeeded',
      '-> next (else)',
      'agent: Done.',
    ])
    expect(talk.actions.sent).toHaveLength(1)
  })
})

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
    const asked: string[] = []
    const talk = new TextConversationHarness(plan({ type: 'inferred', prompt: 'The number the caller gave' }), {
      transferPolicy: destination => {
        asked.push(destination)
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
    expect(asked).toEqual(['+1900555'])
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
