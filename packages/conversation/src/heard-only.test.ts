import { describe, expect, it } from 'vitest'
import { asks, ends, httpAction, planOf, says, when } from './testing/plans.ts'
import { linesOf } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { settle } from './testing/text-conversation-harness.ts'

const chat = planOf([says('chat', 'Hello, how can I help?', { edges: [when('bye', 'end')] }), ends()])

async function chatting(rest = {}): Promise<SpokenConversationHarness> {
  const talk = new SpokenConversationHarness(chat, rest)
  await talk.start()
  await talk.hear()
  talk.lines()
  return talk
}

describe('agent speech in the transcript', () => {
  it('agent speech is not transcribed before playback is reported', async () => {
    const talk = new SpokenConversationHarness(chat)
    await talk.start()
    expect([talk.saying, talk.memory, talk.conversation.utterances]).toEqual([['Hello, how can I help?'], [], []])
    await talk.hear()
    expect(talk.memory).toEqual(['agent: Hello, how can I help?'])
    expect(talk.conversation.utterances).toMatchObject([
      { index: 0, role: 'agent', text: 'Hello, how can I help?', interrupted: false, node_id: 'chat' },
    ])
  })

  it('the model sees only the heard part of an interrupted reply', async () => {
    const talk = await chatting()
    talk.model.answers([{ say: 'We are open from nine to five, and on Sundays from ten.' }], [{ say: 'Yes.' }])
    await talk.say('When are you open?')
    await talk.cut('We are open from nine')
    await talk.say('On Sundays, too?')
    expect(linesOf(talk.model.requests[1]!.messages)).toEqual([
      'agent: Hello, how can I help?',
      'user: When are you open?',
      'agent: We are open from nine —',
      'user: On Sundays, too?',
    ])
    await talk.hear()
    expect(talk.conversation.utterances.map(({ text, interrupted }) => [text, interrupted])).toEqual([
      ['Hello, how can I help?', false],
      ['When are you open?', false],
      ['We are open from nine', true],
      ['On Sundays, too?', false],
      ['Yes.', false],
    ])
    expect(talk.lines()).toEqual([
      'user: When are you open?',
      'agent: We are open from nine',
      'cut 2',
      'user: On Sundays, too?',
      'agent: Yes.',
    ])
  })

  it('a reply of which nothing was heard leaves no trace', async () => {
    const talk = await chatting()
    talk.model.answers([{ say: 'One.' }])
    await talk.say('Count')
    await talk.cut('')
    expect(talk.memory).toEqual(['agent: Hello, how can I help?', 'user: Count'])
    expect(talk.lines()).toEqual(['user: Count'])
  })

  it('interrupted agent speech is placed before the turn of the caller who interrupted it', async () => {
    const talk = await chatting()
    talk.model.answers([{ say: 'It costs twenty euros a month.' }], [{ say: 'Fine.' }])
    await talk.say('What does it cost?')
    talk.heardWhenWithdrawn = 'It costs'
    await talk.say('Never mind')
    expect(linesOf(talk.model.requests[1]!.messages).slice(-3)).toEqual([
      'user: What does it cost?',
      'agent: It costs —',
      'user: Never mind',
    ])
    expect(talk.lines()).toEqual(['user: What does it cost?', 'agent: It costs', 'cut 2', 'user: Never mind'])
    expect(talk.saying).toEqual(['Fine.'])
  })

  it('a model request waits up to 250 ms for the report of interrupted speech', async () => {
    const talk = await chatting()
    talk.heardWhenWithdrawn = null
    talk.model.answers([{ say: 'It costs twenty euros.' }], [{ say: 'Fine.' }], [{ say: 'Bye.' }])
    await talk.say('What does it cost?')
    await talk.say('Never mind')
    expect(talk.model.requests, 'nobody knows yet what was heard').toHaveLength(1)
    await talk.cut('It costs')
    expect(linesOf(talk.model.requests[1]!.messages).slice(-2)).toEqual(['agent: It costs —', 'user: Never mind'])

    await talk.say('Hello?')
    await talk.pass(249)
    expect(talk.model.requests).toHaveLength(2)
    await talk.pass(1)
    expect(linesOf(talk.model.requests[2]!.messages).slice(-2)).toEqual(['user: Never mind', 'user: Hello?'])
    talk.model.answers([{ say: 'Still here.' }])
    talk.heardWhenWithdrawn = ''
    await talk.say('Hm?')
    expect(talk.model.requests, 'what is lost is waited for once').toHaveLength(4)
    await talk.cut('Fi')
    expect(talk.memory.slice(-4), 'a late report finds its place').toEqual([
      'user: Never mind',
      'agent: Fi —',
      'user: Hello?',
      'user: Hm?',
    ])
  })

  it('two caller turns before a late speech report are both kept, in order', async () => {
    const talk = await chatting()
    talk.heardWhenWithdrawn = null
    talk.model.answers([{ say: 'It costs twenty euros.' }], [{ say: 'no' }], [{ say: 'Both.' }])
    await talk.say('What does it cost?')
    await talk.say('Or not.')
    await talk.say('Well?')
    await talk.cut('It')
    await talk.pass(250)
    expect(linesOf(talk.model.requests.at(-1)!.messages).slice(-3)).toEqual([
      'agent: It —',
      'user: Or not.',
      'user: Well?',
    ])
  })

  it('a repeated speech report counts once', async () => {
    const talk = await chatting()
    talk.model.answers([{ say: 'Yes.' }])
    await talk.say('Really?')
    const { id } = talk.speaking[0]!
    await talk.hear()
    talk.conversation.spoken(id, { heard: 'Yes.', interrupted: true, span: null })
    talk.conversation.spoken('speech_99', { heard: 'What?', interrupted: false, span: null })
    await settle()
    expect(talk.lines()).toEqual(['user: Really?', 'agent: Yes.'])
  })

  it('a model request contains the speech in progress', async () => {
    const talk = new SpokenConversationHarness(
      planOf([
        says('first', 'One moment please.', { skip_response_edge: when('skip', 'second') }),
        asks('second', 'Go on.', { skip_response_edge: when('skip', 'third') }),
        asks('third', 'Go on.'),
      ]),
    )
    talk.model.answers([{ say: 'Here I am again.' }], [{ say: 'And again.' }])
    await talk.start()
    await talk.hear()
    expect(linesOf(talk.model.requests[0]!.messages)).toEqual(['agent: One moment please.'])
    const tool = new SpokenConversationHarness(
      planOf(
        [
          {
            id: 'f',
            type: 'function',
            tool_id: 'ping',
            speak_during_execution: true,
            instruction: text('One moment.'),
            edges: [],
            else_edge: when('Else', 'next'),
          },
          asks('next', 'Go on.'),
        ],
        { actions: [httpAction('ping')] },
      ),
    )
    tool.actions.answers('ping', { body: 'pong' })
    tool.model.answers([{ say: 'Done.' }])
    await tool.start()
    expect(tool.saying).toEqual(['One moment.', 'Done.'])
    expect(linesOf(tool.model.requests[0]!.messages)[0]).toBe('agent: One moment.')
    await tool.cut('One')
    expect(tool.memory).toEqual(['agent: One —', 'call ping {}', 'result pong'])
  })
})

const text = (words: string) => ({ type: 'static_text' as const, text: words })

describe('caller turns without words', () => {
  it('keypad digits are noted in the memory, in order', async () => {
    const talk = await chatting()
    talk.model.answers([{ say: 'Thank you.' }])
    talk.conversation.digits('12#', 1500)
    await settle()
    expect(talk.lines()).toEqual(['digits in: 12#'])
    expect(talk.events).toContainEqual({
      type: 'fact',
      fact: { kind: 'digits', direction: 'in', digits: '12#' },
      offset_ms: 1500,
    })
    expect(linesOf(talk.model.requests[0]!.messages).at(-1)).toBe('user: [pressed 12#]')
    expect(talk.conversation.utterances).toHaveLength(1)
  })

  it('unintelligible speech reaches the flow and stays out of the transcript', async () => {
    const talk = await chatting()
    talk.model.answers([{ say: 'Pardon?' }])
    await talk.say('  ')
    expect(talk.conversation.variable('current_not_understood')).toBe('1')
    expect(linesOf(talk.model.requests[0]!.messages).at(-1)).toBe('user: [unintelligible]')
    await talk.hear()
    expect(talk.lines()).toEqual(['agent: Pardon?'])
  })

  it('keypad digits are ignored when allowUserDtmf is false', async () => {
    const plan = planOf([says('chat', 'Hello.')], { settings: { allowUserDtmf: false } })
    const talk = new SpokenConversationHarness(plan)
    await talk.start()
    await talk.hear()
    talk.conversation.digits('5')
    await settle()
    expect([talk.memory, talk.model.requests]).toEqual([['agent: Hello.'], []])
  })
})
