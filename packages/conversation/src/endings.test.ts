import { describe, expect, it } from 'vitest'
import { asks, type DraftNode, ends, planOf, promptText, says, staticText, when } from './testing/plans.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { settle } from './testing/text-conversation-harness.ts'

const goodbye: DraftNode = {
  id: 'end',
  type: 'end',
  speak_during_execution: true,
  instruction: staticText('Good bye!'),
}

const leaving = planOf([says('chat', 'Hello.', { edges: [when('bye', 'end')] }), goodbye])

async function sayingGoodbye(): Promise<SpokenConversationHarness> {
  const talk = new SpokenConversationHarness(leaving)
  await talk.start()
  await talk.hear()
  talk.model.answers([{ say: 'Of course.' }, { take: 'bye' }])
  await talk.say('Bye')
  talk.lines()
  return talk
}

describe('the end of a conversation', () => {
  it('a conversation ends after its last words were heard', async () => {
    const talk = await sayingGoodbye()
    expect(talk.saying).toEqual(['Of course.', 'Good bye!'])
    await talk.hear()
    expect(talk.count('ended')).toBe(0)
    await talk.hear()
    expect(talk.lines()).toEqual(['agent: Of course.', 'agent: Good bye!', 'ended: completed by agent'])
  })

  it('a caller who interrupts the last words still ends the conversation, and is transcribed', async () => {
    const talk = await sayingGoodbye()
    await talk.hear()
    await talk.say('Thanks')
    expect(talk.saying, 'last words are not taken back').toEqual(['Good bye!'])
    await talk.cut('Good')
    expect(talk.lines()).toEqual([
      'agent: Of course.',
      'user: Thanks',
      'agent: Good',
      'cut 4',
      'ended: completed by agent',
    ])
  })

  it('an end node without words waits for the reply that led to it', async () => {
    const talk = new SpokenConversationHarness(
      planOf([says('chat', 'Hello.', { edges: [when('bye', 'end')] }), ends()]),
    )
    await talk.start()
    await talk.hear()
    talk.model.answers([{ say: 'See you.' }, { take: 'bye' }])
    await talk.say('Bye')
    expect([talk.saying, talk.count('ended')]).toEqual([['See you.'], 0])
    await talk.hear()
    expect(talk.events.at(-1)).toEqual({ type: 'ended', outcome: 'completed', ended_by: 'agent', code: null })
  })

  it.each(['silence', 'max_duration'] as const)(
    'the limit %s cuts the speech in progress and ends the conversation',
    async kind => {
      const talk = new SpokenConversationHarness(leaving)
      await talk.start()
      talk.heardWhenWithdrawn = 'Hel'
      if (kind === 'silence') talk.conversation.silence('limit')
      else talk.conversation.maxDuration()
      await settle()
      expect(talk.lines().slice(1, 3)).toEqual(['agent: Hel', 'cut 0'])
      await talk.hearAll()
      expect(talk.events.at(-1)).toMatchObject({ type: 'ended', outcome: kind, ended_by: 'system' })
    },
  )

  it('a limit ends the conversation even when the speech output does not report', async () => {
    const talk = new SpokenConversationHarness(leaving)
    await talk.start()
    talk.heardWhenWithdrawn = null
    talk.conversation.maxDuration()
    await talk.pass(250)
    expect(talk.lines().slice(1)).toEqual(['ended: max_duration by system'])
  })

  it('a limit during the last words ends the conversation with its original outcome', async () => {
    const over = new SpokenConversationHarness(
      planOf([says('chat', 'Hello.', { edges: [when('bye', 'end')] }), ends()]),
    )
    await over.start()
    await over.hear()
    over.model.answers([{ say: 'See you.' }, { take: 'bye' }])
    await over.say('Bye')
    over.conversation.silence('limit')
    await settle()
    expect(over.events.at(-1)).toMatchObject({ type: 'ended', outcome: 'completed' })
  })

  it('an ended conversation ignores every later input', async () => {
    const talk = await sayingGoodbye()
    await talk.hearAll()
    const count = talk.events.length
    await talk.say('Hello?')
    talk.conversation.digits('1')
    talk.conversation.silence('reminder')
    talk.conversation.maxDuration()
    talk.conversation.updateVariables({ a: 'b' })
    talk.conversation.stop()
    talk.conversation.start()
    await settle()
    expect(talk.events).toHaveLength(count)
  })
})

describe('the start of a conversation', () => {
  it('speech from before the start is transcribed and not answered', async () => {
    const talk = new SpokenConversationHarness(leaving)
    talk.conversation.start({ text: 'Hello?', span: { start_ms: 100, end_ms: 400 }, observed_ms: 500 })
    await settle()
    expect(talk.lines()).toEqual(['user: Hello?', '-> chat (start)'])
    expect(talk.conversation.utterances[0]).toMatchObject({
      start_ms: 100,
      end_ms: 400,
      observed_offset_ms: 500,
      node_id: null,
    })
    expect([talk.saying, talk.model.requests]).toEqual([['Hello.'], []])
  })

  it('a conversation that the caller opens starts after the opening silence or with speech from before the start', async () => {
    const plan = planOf([says('chat', 'What can I do?')], {
      flow: { start_speaker: 'user', begin_after_user_silence_ms: 3000 },
    })
    const silent = new SpokenConversationHarness(plan)
    await silent.start()
    expect(silent.events.at(-1)).toEqual({ type: 'await-opening', after_ms: 3000 })
    silent.conversation.silence('opening')
    await settle()
    expect(silent.saying).toEqual(['What can I do?'])
    const open = new SpokenConversationHarness(plan)
    open.conversation.start({ text: 'Hello?', span: null, observed_ms: null })
    await settle()
    expect([open.saying, open.count('await-opening')]).toEqual([['What can I do?'], 0])
  })

  it('turn-taking settings are output once until they change', async () => {
    const plan = planOf(
      [
        says('a', 'A.', { always_edge: when('Always', 'b') }),
        says('b', 'B.', { always_edge: when('Always', 'c') }),
        says('c', 'C.', { interruption_sensitivity: 0 }),
      ],
      { settings: { userDtmfOptions: { digitLimit: 4, terminationKey: '#' } } },
    )
    const talk = new SpokenConversationHarness(plan)
    await talk.start()
    await talk.say('on')
    await talk.say('on')
    const reported = talk.events.flatMap(event =>
      event.type === 'settings' ? [event.settings.interruption_sensitivity] : [],
    )
    expect(reported).toEqual([1, 0])
    expect(talk.events.find(event => event.type === 'collect-digits')).toEqual({
      type: 'collect-digits',
      question: 1,
      answers: null,
      digit_limit: 4,
      termination_key: '#',
      timeout_ms: 3000,
    })
  })
})

describe('a false interruption', () => {
  it('a false interruption is recorded as resumed, and the speech continues', async () => {
    const talk = new SpokenConversationHarness(leaving)
    await talk.start()
    talk.conversation.noteResumed()
    await talk.hear()
    expect(talk.lines()).toEqual(['-> chat (start)', 'resumed', 'agent: Hello.'])
  })
})

describe('a silent caller', () => {
  it('the model generates the reminder for a silent caller', async () => {
    const talk = new SpokenConversationHarness(planOf([asks('ask', 'Ask for a day.')]))
    talk.model.answers([{ say: 'Which day?' }], [{ say: 'Are you there?' }])
    await talk.start()
    await talk.hear()
    talk.conversation.silence('reminder')
    await settle()
    expect(talk.model.requests[1]!.brief).toMatchObject({ purpose: 'reply', reason: 'reminder' })
    expect(talk.saying).toEqual(['Are you there?'])
  })
})

describe('last words by the model', () => {
  it('a conversation ends without last words when the model fails', async () => {
    const node: DraftNode = {
      id: 'end',
      type: 'end',
      speak_during_execution: true,
      instruction: promptText('Thank them.'),
    }
    const talk = new SpokenConversationHarness(planOf([node]))
    talk.model.answers([{ fail: new Error('down') }])
    await talk.start()
    expect(talk.lines()).toEqual(['-> end (start)', 'error model_failed', 'ended: completed by agent'])
  })

  it('the last words are generated from the instruction of the end node', async () => {
    const node: DraftNode = {
      id: 'end',
      type: 'end',
      speak_during_execution: true,
      instruction: promptText('Thank them.'),
    }
    const talk = new SpokenConversationHarness(
      planOf([says('chat', 'Hi.', { always_edge: when('Always', 'end') }), node]),
    )
    await talk.start()
    await talk.hear()
    talk.model.answers([{ say: 'Thank you, Ana.' }])
    await talk.say('Bye')
    expect(talk.count('ended')).toBe(0)
    await talk.hear()
    expect(talk.lines().slice(-2)).toEqual(['agent: Thank you, Ana.', 'ended: completed by agent'])
  })
})
