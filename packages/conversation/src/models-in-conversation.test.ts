import { describe, expect, it } from 'vitest'
import { asks, type DraftNode, ends, httpAction, planOf, says, staticText, when } from './testing/plans.ts'
import { type Answer, linesOf, systemOf } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { settle } from './testing/text-conversation-harness.ts'

const desk: DraftNode = {
  id: 'desk',
  type: 'subagent',
  instruction: staticText('Hello.'),
  tool_ids: ['book'],
  edges: [when('the caller is done', 'end'), when('the caller is angry', 'calm')],
}
const plan = planOf([desk, asks('calm', 'Calm them.'), ends()], { actions: [httpAction('book')] })

async function atTheDesk(...answers: Answer[]): Promise<SpokenConversationHarness> {
  const talk = new SpokenConversationHarness(plan)
  await talk.start()
  await talk.hear()
  talk.lines()
  talk.model.answers(...answers)
  return talk
}

describe('a model reply', () => {
  it('a reply is spoken while it is being generated', async () => {
    const talk = await atTheDesk([{ say: ' \n' }, { say: 'It ' }, { wait: 50 }, { say: 'is noon.' }])
    await talk.say('What time is it?')
    expect(talk.saying).toEqual(['It '])
    expect(talk.count('speech-end')).toBe(1)
    await talk.pass(50)
    expect([talk.saying, talk.count('speech-end')]).toEqual([['It is noon.'], 2])
  })

  it('a reply that takes an edge is played to its end before the next node speaks', async () => {
    const talk = await atTheDesk([{ say: 'I see.' }, { take: 'the caller is angry' }], [{ say: 'Please sit down.' }])
    await talk.say('This is a scandal')
    expect(talk.saying).toEqual(['I see.', 'Please sit down.'])
    await talk.hearAll()
    expect(talk.lines()).toEqual([
      'user: This is a scandal',
      '-> calm (edge)',
      'agent: I see.',
      'agent: Please sit down.',
    ])
  })

  it('a stalled reply that took an edge still moves on', async () => {
    const talk = await atTheDesk([{ take: 'the caller is angry' }, { stall: true }], [{ say: 'Please sit down.' }])
    await talk.say('This is a scandal')
    await talk.pass(250)
    expect(talk.saying.join('')).toBe('Please sit down.')
    expect(talk.lines()).toEqual(['user: This is a scandal', '-> calm (edge)'])
  })

  it('a model request holds the prompts with variables filled in, the phone rules and the time', async () => {
    const talk = new SpokenConversationHarness(
      planOf([asks('ask', 'Ask {{who}} for a day.', { edges: [when('a day was said', 'end')] }), ends()], {
        flow: { global_prompt: 'You are {{agent}}.', default_dynamic_variables: { who: 'Ana', agent: 'Max' } },
        settings: { timezone: 'Europe/Madrid', modelTemperature: 0.3 },
      }),
    )
    await talk.start()
    const [request] = talk.model.requests
    expect(systemOf(request!)).toMatch(
      /^You are Max\.\n[\s\S]*phone call[\s\S]*Ask Ana for a day\.[\s\S]*It is Monday, January 5, 2026 at 1:00:00/,
    )
    expect(request).toMatchObject({
      temperature: 0.3,
      brief: { purpose: 'reply', language: 'en', instruction: 'Ask Ana for a day.', reason: 'enter', transitions: [] },
    })
    expect(request!.tools).toBeUndefined()
    await talk.say('Hm')
    expect(talk.model.requests[1]).toMatchObject({
      tools: [{ name: 'go_1', description: 'a day was said' }],
      strictTools: true,
      brief: { reason: 'user_turn', transitions: [{ tool: 'go_1', condition: 'a day was said' }] },
    })
  })

  it('a model request on a text channel has no phone rules', async () => {
    const talk = new SpokenConversationHarness(planOf([asks('ask', 'Ask.')]), {
      mode: { channel: 'cloud', hasCaller: true },
    })
    await talk.start()
    expect(systemOf(talk.model.requests[0]!)).not.toContain('phone call')
  })

  it('the model sees no personal data where redaction hides it, and the transcript still holds it', async () => {
    const talk = new SpokenConversationHarness(
      planOf([asks('ask', 'Ask.', { edges: [when('a day was said', 'end')] }), ends()], {
        settings: { redaction: { kinds: ['emails'], hideFromModel: true } },
      }),
    )
    await talk.start()
    await talk.say('Write to ida@example.com')
    expect(JSON.stringify(talk.model.requests[1]!.messages)).toContain('Write to [e-mail]')
    expect(JSON.stringify(talk.model.requests)).not.toContain('ida@')
  })

  it('tools are not strict where toolCallStrictMode is off', async () => {
    const talk = new SpokenConversationHarness(
      planOf([asks('ask', 'Ask.', { edges: [when('a day was said', 'end')] }), ends()], {
        settings: { toolCallStrictMode: false },
      }),
    )
    await talk.start()
    await talk.say('Hm')
    expect(talk.model.requests[1]!.tools).toHaveLength(1)
    expect(talk.model.requests[1]!.strictTools).toBeUndefined()
  })

  it('a tool whose name equals that of a transition tool keeps its name', async () => {
    const node: DraftNode = { ...desk, tool_ids: ['go_1'] }
    const talk = new SpokenConversationHarness(
      planOf([node, asks('calm', 'Calm.'), ends()], { actions: [httpAction('go_1')] }),
    )
    await talk.start()
    talk.model.answers([{ call: 'go_1' }])
    await talk.say('Go')
    expect(talk.model.requests[0]!.tools!.map(({ name }) => name)).toEqual(['go_1', 'go_on_1', 'go_on_2'])
    expect(talk.actions.sent).toEqual(['go_1 {}'])
  })
})

describe('an empty reply', () => {
  it('an empty model reply leaves the turn to the caller', async () => {
    const talk = await atTheDesk([], [{ say: 'Yes?' }])
    await talk.say('Hm')
    expect([talk.saying, talk.lines(), talk.events.at(-1)]).toEqual([
      [],
      ['user: Hm'],
      { type: 'busy', busy: false, working: false },
    ])
    await talk.say('Hello?')
    expect(talk.saying).toEqual(['Yes?'])
  })
})

describe('invalid tool calls', () => {
  it('a call of an unknown tool is reported to the model, which is asked once more', async () => {
    const talk = await atTheDesk([{ say: 'Well.' }, { call: 'Go_1' }], [{ take: 'the caller is angry' }])
    await talk.say('This is a scandal')
    expect(linesOf(talk.model.requests[1]!.messages).slice(-3)).toEqual([
      'agent: Well.',
      'call Go_1 {}',
      'result {"error":"There is no such tool."}',
    ])
    expect(talk.lines()).toEqual(['user: This is a scandal', '-> calm (edge)'])
  })

  it('invalid tool arguments are reported to the model once; a second failure drops the call and records an error', async () => {
    const talk = await atTheDesk(
      [{ call: 'book', args: '{"day":' }],
      [{ call: 'book', args: '["Monday"]' }, { say: 'Which day?' }],
    )
    await talk.say('Book')
    expect(linesOf(talk.model.requests[1]!.messages).slice(-2)).toEqual([
      'call book {}',
      'result {"error":"The arguments were no JSON object."}',
    ])
    expect([talk.actions.sent, talk.saying, talk.model.requests.length]).toEqual([[], ['Which day?'], 2])
    expect(talk.lines()).toEqual(['user: Book', 'error arguments_invalid'])
  })

  it('a valid tool call runs once when an invalid one beside it causes a second request', async () => {
    const book = { call: 'book', args: { day: 'Monday' } }
    const talk = await atTheDesk([book, { call: 'nonsense' }], [book, { say: 'One moment.' }], [])
    await talk.say('Book Monday')
    expect(linesOf(talk.model.requests[1]!.messages).slice(-3)).toEqual([
      'call nonsense {}',
      'result {"status":"in progress"}',
      'result {"error":"There is no such tool."}',
    ])
    expect(talk.actions.sent).toEqual(['book {"day":"Monday"}'])
  })
})

describe('limits on a model reply', () => {
  it('a reply is cut at 8192 characters', async () => {
    const talk = await atTheDesk([{ babble: 'blah blah ' }])
    await talk.say('Talk')
    expect(talk.saying[0]).toHaveLength(8192)
    expect(talk.speaking[0]!.isComplete).toBe(true)
    expect(talk.lines()).toEqual(['user: Talk', 'error answer_too_long'])
  })

  it('a reply is cut after a minute', async () => {
    const words = Array.from({ length: 100 }, () => [{ say: 'so ' }, { wait: 1000 }]).flat()
    const talk = await atTheDesk(words)
    await talk.say('Talk')
    for (let second = 0; second < 60; second++) await talk.pass(1000)
    expect(talk.saying[0]).toBe('so '.repeat(60))
    expect(talk.lines()).toEqual(['user: Talk', 'error model_timeout'])
  })

  it('an endless answer to an edge choice is aborted', async () => {
    const node: DraftNode = {
      id: 'pick',
      type: 'conversation',
      instruction: staticText('Yes?'),
      edges: [when('a', 'on')],
      else_edge: when('Else', 'on'),
    }
    const talk = new SpokenConversationHarness(planOf([node, says('on', 'Let us go on.')]))
    await talk.start()
    await talk.hear()
    talk.model.answers([{ babble: 'hm ' }])
    await talk.say('Hm')
    expect(talk.lines().slice(2)).toEqual(['user: Hm', 'error model_failed', '-> on (else)'])
  })

  it('an aborted reply has no effect, even when the model ignores the abort', async () => {
    const talk = await atTheDesk(
      [{ wait: 100 }, { say: 'Old news.' }, { call: 'book' }, { take: 'the caller is done' }],
      [{ wait: 50 }, { say: 'New.' }],
    )
    talk.model.ignoresAborts = true
    await talk.say('One')
    await talk.say('Two')
    await talk.pass(50)
    await talk.pass(500)
    expect([talk.saying, talk.actions.sent]).toEqual([['New.'], []])
    expect(talk.lines()).toEqual(['user: One', 'user: Two'])
  })
})

describe('an edge choice that a newer turn replaces', () => {
  it('a caller who speaks again aborts the pending edge choice, and the newer turn decides', async () => {
    const node: DraftNode = {
      id: 'pick',
      type: 'conversation',
      instruction: staticText('Yes?'),
      edges: [when('red', 'r'), when('blue', 'b')],
      else_edge: when('Else', 'e'),
    }
    const talk = new SpokenConversationHarness(
      planOf([node, says('r', 'Red.'), says('b', 'Blue.'), says('e', 'None.')]),
    )
    await talk.start()
    await talk.hear()
    talk.model.answers([{ wait: 500 }, { take: 'red' }], [{ take: 'blue' }])
    await talk.say('Red')
    await talk.pass(100)
    await talk.say('No, blue')
    await talk.pass(1000)
    expect([talk.saying, talk.model.givenUp]).toEqual([['Blue.'], 1])
    await settle()
    expect(talk.lines().filter(line => line.startsWith('->'))).toEqual(['-> pick (start)', '-> b (edge)'])
  })
})
