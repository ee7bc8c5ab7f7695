import { describe, expect, it } from 'vitest'
import type { ActionRequest } from './ports.ts'
import { asks, type DraftNode, ends, httpAction, planOf, says, staticText, when } from './testing/plans.ts'
import { linesOf, systemOf } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { settle } from './testing/text-conversation-harness.ts'

const desk: DraftNode = {
  id: 'desk',
  type: 'subagent',
  instruction: staticText('Hello.'),
  tool_ids: ['book', 'price'],
  edges: [when('the caller is done', 'end')],
}
const actions = [httpAction('book', { response_variables: { time: '$.time' } }), httpAction('price')]
const plan = planOf([desk, ends()], { actions })

async function atTheDesk(rest = {}): Promise<SpokenConversationHarness> {
  const talk = new SpokenConversationHarness(plan, rest)
  await talk.start()
  await talk.hear()
  talk.lines()
  return talk
}

const askedLast = (talk: SpokenConversationHarness) => linesOf(talk.model.requests.at(-1)!.messages)

describe('a tool', () => {
  it('a tool runs as soon as its call is complete, and its result is answered after the words spoken meanwhile', async () => {
    const talk = await atTheDesk()
    talk.model.answers([{ say: 'Let me see. ' }, { call: 'book', args: { day: 'Monday' } }], [{ say: 'At nine.' }])
    await talk.say('Book Monday')
    expect(talk.actions.sent).toEqual(['book {"day":"Monday"}'])
    talk.actions.resolve({ body: { time: '09:00' } })
    await settle()
    expect(talk.saying).toEqual(['Let me see. ', 'At nine.'])
    expect(talk.conversation.variable('time')).toBe('09:00')
    expect(askedLast(talk).slice(-4)).toEqual([
      'user: Book Monday',
      'agent: Let me see.',
      'call book {"day":"Monday"}',
      'result {"time":"09:00"}',
    ])
    await talk.hearAll()
    expect(talk.lines()).toEqual([
      'user: Book Monday',
      'book started',
      'book succeeded',
      'action set time',
      'agent: Let me see.',
      'agent: At nine.',
    ])
  })

  it('a tool call in a preemptive answer runs when the turn ends, and never when the caller goes on', async () => {
    const talk = await atTheDesk()
    talk.model.answers([{ call: 'book', args: { day: 'Monday' } }], [{ call: 'book', args: { day: 'Tuesday' } }])
    talk.conversation.startPreemptiveGeneration('Book Monday')
    await settle()
    talk.conversation.dropPreemptiveGeneration()
    await settle()
    talk.conversation.startPreemptiveGeneration('Book Monday or Tuesday')
    await settle()
    expect(talk.model.requests).toHaveLength(2)
    expect(talk.actions.sent).toEqual([])
    await talk.say('Book Monday or Tuesday')
    expect(talk.actions.sent).toEqual(['book {"day":"Tuesday"}'])
  })

  it('an interruption does not send a tool again, and its result is part of the next reply', async () => {
    const talk = await atTheDesk()
    talk.model.answers(
      [{ say: 'Let me see what there is. ' }, { call: 'book', args: { day: 'Monday' } }],
      [{ say: 'Yes, by card.' }],
      [{ say: 'And you are booked.' }],
    )
    await talk.say('Book Monday')
    await talk.cut('Let me')
    await talk.say('Can I pay by card?')
    expect(askedLast(talk).slice(-4)).toEqual([
      'agent: Let me —',
      'call book {"day":"Monday"}',
      'result {"status":"in progress"}',
      'user: Can I pay by card?',
    ])
    talk.actions.resolve({ body: { time: '09:00' } })
    await settle()
    expect(talk.saying, 'the newer words come first').toEqual(['Yes, by card.'])
    await talk.hear()
    expect(talk.saying).toEqual(['And you are booked.'])
    expect(askedLast(talk)).toContain('result {"time":"09:00"}')
    expect(talk.actions.sent).toHaveLength(1)
  })

  it('a tool does not run when the caller interrupts before its call is complete', async () => {
    const talk = await atTheDesk()
    talk.model.answers([{ say: 'Let me see.' }, { wait: 500 }, { call: 'book' }], [{ say: 'Fine.' }])
    await talk.say('Book Monday')
    await talk.pass(400)
    await talk.cut('Let')
    await talk.pass(400)
    await talk.say('No, wait')
    await talk.pass(1000)
    expect(talk.actions.sent).toEqual([])
    expect(talk.model.givenUp).toBe(1)
    expect(talk.saying).toEqual(['Fine.'])
  })

  it('the results of several tools in one reply reach the model together', async () => {
    const talk = await atTheDesk()
    talk.actions.answers('book', { body: 'booked' })
    talk.actions.answers('price', { body: { euros: 20 } }, 50)
    talk.model.answers(
      [{ call: 'book', args: { day: 'Monday' } }, { wait: 200 }, { call: 'price' }],
      [{ say: 'Booked, for twenty euros.' }],
    )
    await talk.say('Book Monday, what is it?')
    await talk.pass(200)
    await talk.pass(50)
    expect(talk.actions.sent).toEqual(['book {"day":"Monday"}', 'price {}'])
    expect(talk.model.requests).toHaveLength(2)
    expect(askedLast(talk).slice(-4)).toEqual([
      'call book {"day":"Monday"}',
      'call price {}',
      'result booked',
      'result {"euros":20}',
    ])
  })

  it('a tool called together with an edge choice runs before the edge is taken', async () => {
    const talk = await atTheDesk()
    talk.model.answers([{ take: 'the caller is done' }, { call: 'book' }])
    await talk.say('Book it and good bye')
    await settle()
    expect(talk.actions.sent).toEqual(['book {}'])
    expect(talk.lines().at(-1)).toBe('ended: completed by agent')
  })

  it('a failed or uncertain tool is reported to the model with its outcome', async () => {
    const talk = await atTheDesk()
    talk.actions.answers('book', { failed: 'http_409' })
    talk.actions.answers('price', { uncertain: 'timeout' })
    talk.model.answers([{ call: 'book' }, { call: 'price' }], [{ say: 'Sorry.' }])
    await talk.say('Book')
    expect(askedLast(talk).slice(-2)).toEqual([
      'result {"outcome":"failed","error":"http_409"}',
      'result {"outcome":"uncertain","error":"timeout"}',
    ])
    expect(talk.lines()).toEqual(['user: Book', 'book started', 'book failed', 'price started', 'price uncertain'])
  })

  it.each(['http_301', 'http_302', 'http_303'])(
    'a redirect that is not followed (%s) is in the timeline with what to change',
    async code => {
      const talk = await atTheDesk()
      talk.actions.answers('book', { failed: code })
      talk.model.answers([{ call: 'book' }], [{ say: 'Sorry.' }])
      await talk.say('Book')
      const errors = talk.events.flatMap(event =>
        event.type === 'fact' && event.fact.kind === 'error' ? [event.fact] : [],
      )
      expect(errors).toEqual([
        {
          kind: 'error',
          code,
          message: expect.stringMatching(/^The action book .*set the action's url to the address/),
        },
      ])
    },
  )

  it('a tool request is filled in with the current variables', async () => {
    const talk = await atTheDesk()
    talk.conversation.updateVariables({ name: 'Ana María' })
    talk.model.answers([{ call: 'book' }])
    await talk.say('Book')
    expect(talk.actions.requests[0]!.render('/of/{{name}}?x={{nothing}}')).toBe('/of/Ana María?x=')
  })
})

describe('a run update', () => {
  it('a run update before the call starts is used in the first words', async () => {
    const talk = new SpokenConversationHarness(planOf([says('hi', 'Hello, {{name}}.'), ends()]), {
      variables: { run: { name: 'you' } },
    })
    talk.conversation.updateVariables({ name: 'Ana' })
    await talk.start()
    expect(talk.saying).toEqual(['Hello, Ana.'])
  })

  it('a run update is used from the next turn on', async () => {
    const ask = asks('hi', 'Greet {{name}}.', { edges: [when('done', 'end')] })
    const talk = new SpokenConversationHarness(planOf([ask, ends()]), { variables: { run: { name: 'you' } } })
    talk.model.answers([{ say: 'Hello, you.' }], [{ say: 'Hello, Ana.' }])
    await talk.start()
    talk.conversation.updateVariables({ name: 'Ana' })
    expect(talk.saying).toEqual(['Hello, you.'])
    await talk.hear()
    await talk.say('Hm?')
    expect(systemOf(talk.model.requests[0]!)).toContain('Greet you.')
    expect(systemOf(talk.model.requests[1]!)).toContain('Greet Ana.')
  })
})

describe('after the caller has hung up', () => {
  it('after a hang-up, sent actions complete and are recorded, unsent ones are held back and model requests are aborted', async () => {
    const aborted: boolean[] = []
    let signal: AbortSignal | undefined
    const runner = {
      run: (request: ActionRequest, given: AbortSignal) => {
        signal = given
        return talk.actions.run(request)
      },
    }
    const talk: SpokenConversationHarness = await atTheDesk({ actions: runner })
    talk.model.answers([{ call: 'book' }, { say: 'Let me see.' }, { stall: true }])
    await talk.say('Book')
    talk.conversation.stop()
    aborted.push(signal!.aborted)
    const settled = talk.conversation.settled().then(() => talk.lines())
    await talk.say('Hello?')
    talk.conversation.silence('reminder')
    talk.conversation.digits('1')
    talk.actions.resolve({ body: { time: '09:00' } })
    expect(await settled).toEqual(['user: Book', 'book started', 'book succeeded', 'action set time'])
    expect(aborted).toEqual([true])
    expect([talk.model.requests.length, talk.model.givenUp, talk.count('ended')]).toEqual([1, 1, 0])
    expect(talk.conversation.variable('time')).toBe('09:00')
  })

  it('after a hang-up, the last words that were heard are still transcribed', async () => {
    const talk = await atTheDesk()
    talk.heardWhenWithdrawn = null
    talk.model.answers([{ say: 'It costs twenty euros.' }])
    await talk.say('Price?')
    talk.conversation.stop()
    await talk.cut('It costs')
    expect(talk.lines()).toEqual(['user: Price?', 'agent: It costs', 'cut 2'])
  })

  it('a hang-up during the last words does not abort an action that was already sent', async () => {
    let signal: AbortSignal | undefined
    const runner = {
      run: (request: ActionRequest, given: AbortSignal) => {
        signal = given
        return talk.actions.run(request)
      },
    }
    const talk: SpokenConversationHarness = await atTheDesk({ actions: runner })
    talk.model.answers([{ say: 'Done, bye.' }, { call: 'book' }, { take: 'the caller is done' }])
    await talk.say('Book it and good bye')
    expect([talk.saying, talk.count('ended')]).toEqual([['Done, bye.'], 0])
    talk.conversation.stop()
    expect(signal!.aborted).toBe(false)
    talk.actions.resolve({ body: null })
    await talk.conversation.settled()
    expect(talk.lines().slice(-2)).toEqual(['-> end (edge)', 'book succeeded'])
  })
})

describe('waiting for actions and models', () => {
  it('a busy event marks the start and the end of waiting', async () => {
    const talk = await atTheDesk()
    talk.model.answers([{ wait: 100 }, { call: 'book' }], [{ wait: 100 }, { say: 'Booked.' }])
    const busy = () => talk.events.filter(event => event.type === 'busy').map(event => event.busy)
    await talk.say('Book')
    await talk.pass(100)
    expect(busy()).toEqual([true])
    talk.actions.resolve({ body: null })
    await talk.pass(100)
    expect(busy()).toEqual([true, false])
  })

  it('an action that the caller has moved on from, or that the flow does not wait for, does not count as busy', async () => {
    const talk = await atTheDesk()
    talk.model.answers([{ call: 'book' }], [{ say: 'Yes?' }])
    await talk.say('Book')
    await talk.say('Oh, and')
    expect(talk.events.findLast(event => event.type === 'busy')).toMatchObject({ busy: false })
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'book',
      wait_for_result: false,
      edges: [],
      else_edge: when('Else', 'on'),
    }
    const other = new SpokenConversationHarness(planOf([node, says('on', 'Go on.')], { actions }))
    await other.start()
    expect(other.count('busy')).toBe(0)
  })

  it('time spent on models and actions is measured from the caller turn, and overlaps count once', async () => {
    const talk = await atTheDesk()
    talk.actions.answers('book', { body: null }, 300)
    talk.actions.answers('price', { body: null }, 200)
    talk.model.answers(
      [{ wait: 400 }, { call: 'book' }, { call: 'price' }],
      [{ wait: 250 }, { say: 'It' }, { wait: 500 }, { say: ' is done.' }],
    )
    await talk.say('Book')
    await talk.pass(400)
    expect(talk.conversation.spentSinceTurn()).toEqual({ modelMs: 400, actionMs: 0 })
    await talk.pass(300)
    expect(talk.conversation.spentSinceTurn()).toEqual({ modelMs: 400, actionMs: 300 })
    await talk.pass(250)
    await talk.pass(500)
    expect(talk.conversation.spentSinceTurn()).toEqual({ modelMs: 650, actionMs: 300 })
    await talk.say('Thanks')
    expect(talk.conversation.spentSinceTurn()).toEqual({ modelMs: 0, actionMs: 0 })
  })

  it('speech during an action is dropped when the action completes first', async () => {
    const node: DraftNode = {
      id: 'f',
      type: 'function',
      tool_id: 'book',
      speak_during_execution: true,
      instruction: { type: 'prompt', text: 'Ask for patience.' },
      edges: [],
      else_edge: when('Else', 'on'),
    }
    const talk = new SpokenConversationHarness(planOf([node, asks('on', 'Go on.')], { actions }))
    talk.model.answers([{ stall: true }], [{ say: 'Booked.' }])
    await talk.start()
    talk.actions.resolve({ body: null })
    await settle()
    expect(talk.saying).toEqual(['Booked.'])
  })
})
