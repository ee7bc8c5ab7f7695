import { describe, expect, it } from 'vitest'
import { asks, type DraftAction, ends, httpAction, planOf, says, when } from './testing/plans.ts'
import { linesOf } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { settle } from './testing/text-conversation-harness.ts'

const HALF = { isUnfinished: true }

/** Asks for a name and registers it as soon as the model says that it was given. */
async function registering(action: Partial<Extract<DraftAction, { kind: 'http' }>> = {}) {
  const plan = planOf(
    [
      says('ask', 'What is your name?', { edges: [when('gave a name', 'register')] }),
      { id: 'register', type: 'function', tool_id: 'register', else_edge: when('done', 'done') },
      asks('done', 'Confirm.'),
      ends(),
    ],
    { actions: [httpAction('register', action)] },
  )
  const call = new SpokenConversationHarness(plan)
  call.actions.answers('register', { body: {} })
  await call.start()
  await call.hearAll()
  call.lines()
  return call
}

const gives = [{ take: 'gave a name' }]

describe('a turn after which keys were pressed', () => {
  it.each([HALF, { isUnfinished: false }])(
    'its keys are not pressed again when the caller goes on (%j)',
    async turn => {
      const plan = planOf(
        [
          says('menu', '', { edges: [when('named a key', 'press')] }),
          {
            id: 'press',
            type: 'press_digit',
            instruction: { type: 'static_text', text: '1' },
            else_edge: when('done', 'wait'),
          },
          says('wait', 'One moment.', { edges: [when('a person spoke', 'end')] }),
          ends(),
        ],
        { settings: { channels: ['phone' as const] } },
      )
      const call = new SpokenConversationHarness(plan)
      await call.start()
      call.model.answers([{ take: 'named a key' }], [{ take: 'named a key' }])
      await call.say('For sales press one.', turn)
      const keys = () => call.events.filter(event => event.type === 'leg-request')
      expect(keys()).toHaveLength(1)
      call.conversation.turnContinued()
      await settle()
      await call.say('For support press two.')
      expect(keys()).toHaveLength(1)
    },
  )
})

describe('a complete turn that the caller corrects before the answer is heard', () => {
  const COMPLETE = { isUnfinished: false }

  it('the turn is taken back, and the correction is answered where the turn was', async () => {
    const plan = planOf([
      says('day', 'Which day?', { edges: [when('named a day', 'time')] }),
      asks('time', 'Offer times.'),
      ends(),
    ])
    const call = new SpokenConversationHarness(plan)
    await call.start()
    await call.hearAll()
    call.lines()
    call.model.answers(
      [{ take: 'named a day' }],
      [{ say: 'On Tuesday there is ten.' }],
      [{ take: 'named a day' }],
      [{ say: 'On Wednesday there is nine.' }],
    )
    await call.say('Tuesday.', COMPLETE)
    call.conversation.turnContinued()
    await settle()
    expect(call.lines()).toContain('-> day (return)')
    await call.say('no, Wednesday.', COMPLETE)
    const requests = call.model.requests.map(({ messages }) => linesOf(messages).at(-1))
    expect(requests).toContain('user: Tuesday. no, Wednesday.')
    expect(call.lines()).toContain('-> time (edge)')
  })

  it('its actions wait for nothing, and one that was sent is not taken back', async () => {
    const call = await registering()
    call.model.answers(gives, [{ say: 'Done.' }], [{ say: 'Sorry.' }])
    await call.say('My name is John Smith.', COMPLETE)
    await settle()
    expect(call.actions.sent).toEqual(['register {}'])
    call.conversation.turnContinued()
    await call.say('no, Jane.', COMPLETE)
    expect(linesOf(call.model.requests.at(-1)!.messages).at(-1)).toBe('user: [went on after register] no, Jane.')
  })
})

describe('an action on a turn that looks unfinished', () => {
  it('an action on a turn that looks unfinished waits until the caller has been silent', async () => {
    const call = await registering()
    call.model.answers(gives, [{ say: 'Done.' }])
    await call.say('My name is', HALF)
    expect(call.actions.sent).toEqual([])
    expect(call.lines()).toContain('register started')
    call.conversation.turnSettled(true)
    await settle()
    expect(call.actions.sent).toEqual(['register {}'])
    expect(call.lines()).toContain('register succeeded')
  })

  it('an action on a turn that looks unfinished is superseded when the caller goes on, and the words join the turn', async () => {
    const call = await registering()
    call.model.answers(gives, gives, [{ say: 'Done.' }])
    await call.say('My name is', HALF)
    call.conversation.turnContinued()
    await settle()
    expect(call.lines()).toEqual([
      'user: My name is',
      '-> register (edge)',
      'register started',
      '-> ask (return)',
      'register failed',
    ])
    await call.say('John Smith')
    expect(call.actions.sent).toEqual(['register {}'])
    const [, second] = call.model.requests
    expect(linesOf(second!.messages)).toEqual(['agent: What is your name?', 'user: My name is John Smith'])
    expect(call.conversation.utterances.map(({ text }) => text)).toEqual([
      'What is your name?',
      'My name is',
      'John Smith',
    ])
  })

  it('an action on a turn that looks unfinished is sent after 2 s at the latest', async () => {
    const call = await registering()
    call.model.answers(gives)
    await call.say('My name is', HALF)
    await call.pass(1999)
    expect(call.actions.sent).toEqual([])
    await call.pass(1)
    expect(call.actions.sent).toEqual(['register {}'])
  })

  it('an action on a turn that looks unfinished lets a holding line play meanwhile, which neither sends it nor keeps the caller from going on', async () => {
    const call = await registering()
    call.model.answers(gives, gives, [{ say: 'Done.' }])
    await call.say('My name is', HALF)
    expect(call.conversation.workingOn).toBe('action')
    call.conversation.hold()
    expect(call.saying).toEqual(['One moment, please.'])
    await call.hear()
    expect(call.actions.sent).toEqual([])
    call.conversation.turnContinued()
    await settle()
    expect(call.lines()).toContain('register failed')
    await call.say('John Smith')
    expect(call.actions.sent).toEqual(['register {}'])
    expect(linesOf(call.model.requests.at(1)!.messages).at(-1)).toBe('user: My name is John Smith')
  })

  it.each([{ method: 'GET' as const }, { reversible: true }])('is sent at once with %j', async action => {
    const call = await registering(action)
    call.model.answers(gives)
    await call.say('My name is', HALF)
    expect(call.actions.sent).toEqual(['register {}'])
  })

  it('a complete turn is never held', async () => {
    const call = await registering()
    call.model.answers(gives)
    await call.say('John Smith')
    expect(call.actions.sent).toEqual(['register {}'])
  })

  it('when the caller goes on after it was sent, the model is told so', async () => {
    const call = await registering()
    call.model.answers(gives, [{ say: 'Registered.' }], [{ say: 'I will mend that.' }])
    await call.say('My name is', HALF)
    call.conversation.turnSettled(true)
    await settle()
    call.conversation.turnContinued()
    await call.say('John Smith')
    expect(linesOf(call.model.requests.at(-1)!.messages).at(-1)).toBe('user: [went on after register] John Smith')
  })

  it('an answer that the model was preparing is dropped when the caller goes on', async () => {
    const call = await registering()
    call.model.answers([{ wait: 500 }, { say: 'Sorry, what was it?' }], gives)
    await call.say('My name is', HALF)
    call.conversation.turnContinued()
    await call.pass(600)
    expect(call.saying).toEqual([])
    await call.say('John Smith')
    expect(call.actions.sent).toEqual(['register {}'])
  })
})
