import { describe, expect, it } from 'vitest'
import { asks, type DraftNode, ends, httpAction, planOf, says } from './testing/plans.ts'
import { linesOf } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { TextConversationHarness } from './testing/text-conversation-harness.ts'

const APOLOGY = 'I am sorry, I did not get that. Which day?'

function confused(nodes: DraftNode[] = [asks('day', 'Ask for the day.')], settings = {}) {
  const call = new TextConversationHarness(planOf([...nodes, ends()], { settings }))
  call.model.answers(
    [{ say: 'Which day?' }],
    ...Array.from({ length: 8 }, () => [{ say: 'I am sorry, I did ' }, { say: 'not get that. Which day?' }]),
  )
  return call
}

describe('an agent that makes no progress', () => {
  it('an agent that makes no progress does not apologise with the same words five times running', async () => {
    const call = confused()
    await call.start()
    const said: string[] = []
    for (let turn = 0; turn < 4; turn++) said.push(...(await call.say('hmpf')))
    expect(said.filter(line => line.startsWith('agent'))).toEqual([
      `agent: ${APOLOGY}`,
      'agent: I still did not understand. Could you say it in other words?',
      'agent: Let us try it another way: please use the keys of your phone.',
      'agent: I am sorry that I could not help you. Please call again later. Goodbye.',
    ])
    expect(said.slice(-3)).toEqual([
      'error no_progress',
      'agent: I am sorry that I could not help you. Please call again later. Goodbye.',
      'ended: agent_hung_up by agent',
    ])
  })

  it('an agent that makes no progress transfers the call where the flow has a transfer for it', async () => {
    const desk: DraftNode = {
      id: 'desk',
      type: 'transfer_call',
      transfer_destination: { type: 'predefined', number: '+15550100' },
      edge: {
        id: 'failed',
        transition_condition: { type: 'prompt', prompt: 'Transfer failed' },
        destination_node_id: 'end',
      },
      global_node_setting: { condition: 'wants a person' },
    }
    const call = confused([asks('day', 'Ask for the day.'), desk], { channels: ['cloud'] })
    await call.start()
    const said: string[] = []
    for (let turn = 0; turn < 4; turn++) said.push(...(await call.say('hmpf')))
    expect(said).toContain('-> desk (global)')
  })

  it('an agent that makes no progress offers no keys where the caller may not use them', async () => {
    const call = confused(undefined, { allowUserDtmf: false })
    await call.start()
    await call.say('hmpf')
    await call.say('hmpf')
    expect(await call.say('hmpf')).toContain('agent: Let us try it once more: please say it in one or two words.')
  })

  it('other apologies and repeated questions are spoken as the model wrote them', async () => {
    const call = confused()
    await call.start()
    await call.say('hmpf')
    expect(await call.say('hmpf')).toContain('agent: I still did not understand. Could you say it in other words?')
    const other = new TextConversationHarness(planOf([asks('a', 'Ask.'), ends()]))
    other.model.answers(...Array.from({ length: 4 }, () => [{ say: 'Anything else?' }]))
    await other.start()
    for (let turn = 0; turn < 3; turn++) expect(await other.say('Yes')).toContain('agent: Anything else?')
  })
})

describe('a model that repeats a tool call', () => {
  const plan = planOf(
    [
      { id: 'talk', type: 'subagent', instruction: { type: 'prompt', text: 'Help.' }, tool_ids: ['look', 'book'] },
      ends(),
    ],
    { actions: [httpAction('look'), httpAction('book')] },
  )

  it('the third call with the same arguments in a turn is refused, and the model must speak', async () => {
    const talk = new TextConversationHarness(plan)
    talk.actions.answers('look', { body: { free: [] } })
    const looks = [{ call: 'look', args: { day: 'Monday' } }]
    talk.model.answers([{ say: 'Hello.' }], looks, looks, looks, [{ say: 'Nothing is free on Monday.' }])
    await talk.start()
    const lines = await talk.say('Monday?')
    expect(talk.actions.sent).toHaveLength(2)
    expect(lines).toContain('error tool_loop')
    expect(lines.at(-1)).toBe('agent: Nothing is free on Monday.')
    const last = talk.model.requests.at(-1)!
    expect(last.tools ?? []).toEqual([])
    expect(linesOf(last.messages).at(-1)).toContain('already called with the same arguments')
  })

  it('the same call is allowed again after the caller has spoken', async () => {
    const talk = new TextConversationHarness(plan)
    talk.actions.answers('look', { body: {} })
    const looks = [{ call: 'look', args: {} }]
    talk.model.answers([{ say: 'Hello.' }], looks, looks, [{ say: 'No.' }], looks, [{ say: 'Still not.' }])
    await talk.start()
    await talk.say('Look')
    expect(await talk.say('Again')).not.toContain('error tool_loop')
    expect(talk.actions.sent).toHaveLength(3)
  })

  it('more than twelve calls in a turn are refused', async () => {
    const talk = new TextConversationHarness(plan)
    talk.actions.answers('look', { body: {} })
    const looks = Array.from({ length: 13 }, (_, page) => [{ call: 'look', args: { page } }])
    talk.model.answers([{ say: 'Hello.' }], ...looks, [{ say: 'That is all.' }])
    await talk.start()
    expect(await talk.say('All of them')).toContain('error tool_loop')
    expect(talk.actions.sent).toHaveLength(12)
  })

  it('more than 200 calls in a conversation are refused, however few each turn has', async () => {
    const talk = new TextConversationHarness(plan)
    talk.actions.answers('look', { body: {} })
    const turn = (day: number) => [
      ...Array.from({ length: 10 }, (_, page) => [{ call: 'look', args: { day, page } }]),
      [{ say: 'Done.' }],
    ]
    talk.model.answers([{ say: 'Hello.' }], ...Array.from({ length: 20 }, (_, day) => turn(day)).flat())
    await talk.start()
    for (let day = 0; day < 20; day++) expect(await talk.say('Go on')).not.toContain('error tool_loop')
    expect(talk.actions.sent).toHaveLength(200)
    talk.model.answers([{ call: 'look', args: {} }], [{ say: 'I cannot look again.' }])
    const lines = await talk.say('Go on')
    expect(lines).toContain('error tool_loop')
    expect(lines.at(-1)).toBe('agent: I cannot look again.')
    expect(talk.actions.sent).toHaveLength(200)
    expect(linesOf(talk.model.requests.at(-1)!.messages).at(-1)).toContain('in this conversation')
  })

  it('a flow that runs the same action in a loop stops running it', async () => {
    const loop = planOf(
      [
        {
          id: 'a',
          type: 'function',
          tool_id: 'look',
          else_edge: { id: 'e', transition_condition: { type: 'prompt', prompt: 'x' }, destination_node_id: 'b' },
        },
        {
          id: 'b',
          type: 'function',
          tool_id: 'look',
          else_edge: { id: 'f', transition_condition: { type: 'prompt', prompt: 'x' }, destination_node_id: 'a' },
        },
      ],
      { actions: [httpAction('look')] },
    )
    const talk = new TextConversationHarness(loop)
    talk.actions.answers('look', { body: {} })
    expect((await talk.start()).at(-1)).toBe('ended: error by system tool_call_limit')
    expect(talk.actions.sent).toHaveLength(2)
  })
})

describe('a caller who stays silent', () => {
  it('a caller who stays silent hears reminders that differ, then a farewell, then the call ends', async () => {
    const call = new SpokenConversationHarness(planOf([says('ask', 'Which day?'), ends()]))
    await call.start()
    await call.hearAll()
    call.model.answers([{ say: 'Are you still there?' }], [{ say: 'I hear nobody.' }])
    call.conversation.silence('reminder')
    await call.pass(10)
    await call.hearAll()
    call.conversation.silence('reminder')
    await call.pass(10)
    const [first, second] = call.model.requests.map(({ brief }) => brief?.purpose === 'reply' && brief.reason)
    expect([first, second]).toEqual(['reminder', 'reminder_again'])
    await call.hearAll()
    call.lines()
    call.conversation.silence('limit')
    await call.pass(10)
    expect(call.saying).toEqual(['I cannot hear anybody, so I will end the call now. Goodbye.'])
    expect(call.lines()).toEqual([])
    await call.hearAll()
    expect(call.lines()).toEqual([
      'agent: I cannot hear anybody, so I will end the call now. Goodbye.',
      'ended: silence by system',
    ])
  })

  it('a farewell that nobody plays delays the end by 15 s at most', async () => {
    const call = new SpokenConversationHarness(planOf([says('ask', 'Which day?'), ends()]))
    await call.start()
    await call.hearAll()
    call.conversation.silence('limit')
    await call.pass(15_000)
    expect(call.lines().at(-1)).toBe('ended: silence by system')
  })
})
