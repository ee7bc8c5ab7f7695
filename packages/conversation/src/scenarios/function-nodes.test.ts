import { describe, expect, it } from 'vitest'
import { type DraftNode, ends, httpAction, if_, planOf, promptText, says, staticText, when } from '../testing/plans.ts'
import { type Answer, linesOf } from '../testing/scripted-model.ts'
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
