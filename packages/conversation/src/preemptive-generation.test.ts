import { describe, expect, it } from 'vitest'
import { Conversation } from './conversation.ts'
import { asks, ends, if_, planOf, says, when } from './testing/plans.ts'
import { conversationFixture, settle } from './testing/text-conversation-harness.ts'

/** A conversation whose speeches are heard as soon as they are complete. */
async function conversation(nodes: Parameters<typeof planOf>[0]) {
  const fixture = conversationFixture(planOf(nodes))
  const spoken: string[] = []
  let text = ''
  const talk: Conversation = new Conversation({
    ...fixture.options,
    clock: () => null,
    onEvent: event => {
      if (event.type === 'speech-text') text += event.delta
      if (event.type !== 'speech-end') return
      const heard = text
      text = ''
      if (heard !== '') spoken.push(heard)
      queueMicrotask(() => talk.spoken(event.speech_id, { heard, interrupted: false, span: null }))
    },
  })
  talk.start()
  await settle()
  const turn = async (words: string) => {
    talk.userTurn({ text: words, span: null, observed_ms: null })
    await settle()
  }
  const ahead = async (words: string) => {
    talk.startPreemptiveGeneration(words)
    await settle()
  }
  return { ...fixture, talk, spoken, turn, ahead }
}

const orderingConversation = () =>
  conversation([says('hi', 'Hello.', { edges: [when('the caller wants to order', 'end')] }), ends()])

describe('preemptive generation', () => {
  it('a preemptive answer is spoken at once when the turn ends with the same words', async () => {
    const { model, time, spoken, turn, ahead } = await orderingConversation()
    model.answers([{ wait: 300 }, { say: 'Of course.' }])
    await ahead('one pizza')
    time.advance(300)
    await settle()
    expect(spoken).toEqual(['Hello.'])
    await turn('one pizza')
    expect(spoken).toEqual(['Hello.', 'Of course.'])
    expect(model.requests).toHaveLength(1)
  })

  it('a preemptive answer is used when the final transcript differs only in punctuation and capitals', async () => {
    const { model, spoken, turn, ahead } = await orderingConversation()
    model.answers([{ say: 'Of course.' }])
    await ahead('one pizza')
    await turn('One pizza.')
    expect(spoken).toEqual(['Hello.', 'Of course.'])
    expect(model.requests).toHaveLength(1)
  })

  it('a preemptive answer that is still being generated is used when the turn ends', async () => {
    const { model, time, spoken, turn, ahead, talk } = await orderingConversation()
    model.answers([{ say: 'Of ' }, { wait: 300 }, { say: 'course.' }])
    await ahead('one pizza')
    await turn('one pizza')
    time.advance(300)
    await settle()
    expect(spoken).toEqual(['Hello.', 'Of course.'])
    expect(talk.preemptive).toMatchObject({ asked: 1, used: 1, dropped: 0 })
  })

  it('a preemptive answer is aborted when the caller goes on, and nothing of it is spoken or remembered', async () => {
    const { model, spoken, turn, ahead, talk } = await orderingConversation()
    model.answers([{ say: 'Wrong.' }, { stall: true }], [{ say: 'Right.' }])
    await ahead('one pizza')
    talk.dropPreemptiveGeneration()
    await settle()
    expect(model.givenUp).toBe(1)
    await turn('one pizza with ham')
    expect(spoken).toEqual(['Hello.', 'Right.'])
    expect(JSON.stringify(talk.memory)).not.toContain('Wrong')
    expect(talk.preemptive).toMatchObject({ asked: 1, used: 0, dropped: 1 })
  })

  it('a preemptive answer to other words is discarded and requested again', async () => {
    const { model, spoken, turn, ahead, talk } = await orderingConversation()
    model.answers([{ say: 'Wrong.' }], [{ say: 'Right.' }])
    await ahead('one pizza')
    await turn('one pizza please')
    expect(spoken).toEqual(['Hello.', 'Right.'])
    await talk.settled()
    expect(talk.preemptive).toMatchObject({ used: 0, dropped: 1 })
  })

  it('a preemptive answer is aborted when the turn has other words or is keypad digits', async () => {
    const { model, spoken, turn, ahead, talk } = await orderingConversation()
    model.answers([{ say: 'Wrong.' }, { stall: true }], [{ say: 'Right.' }], [{ stall: true }])
    await ahead('one pizza')
    await turn('one pizza please')
    expect(spoken).toEqual(['Hello.', 'Right.'])
    expect(model.givenUp).toBe(1)
    expect(talk.preemptive).toMatchObject({ used: 0, dropped: 1 })
    await ahead('and a')
    talk.digits('1')
    await settle()
    expect(talk.preemptive).toMatchObject({ used: 0, dropped: 2 })
    expect(model.givenUp).toBe(2)
  })

  it('a failed preemptive request is made again when the turn ends', async () => {
    const { model, spoken, turn, ahead } = await orderingConversation()
    model.answers([{ fail: new Error('gone') }], [{ say: 'Right.' }])
    await ahead('one pizza')
    await turn('one pizza')
    expect(spoken).toEqual(['Hello.', 'Right.'])
  })

  it('a preemptive answer can choose an edge', async () => {
    const { model, turn, ahead, talk } = await orderingConversation()
    model.answers([{ take: 'the caller wants to order' }])
    await ahead('one pizza')
    await turn('one pizza')
    await settle()
    expect(model.requests).toHaveLength(1)
    expect(talk.variable('current_agent_state')).toBe('end')
  })

  it('no preemptive request is made when an equation edge or a static text comes first', async () => {
    const { model, ahead } = await conversation([
      says('hi', 'Hello.', { edges: [if_('current_agent_state exists', 'next')] }),
      says('next', 'Next.'),
      ends(),
    ])
    await ahead('one pizza')
    expect(model.requests).toEqual([])
  })

  it('a preemptive request enters no node and counts no turn', async () => {
    const { talk, ahead, model } = await conversation([
      says('hi', 'Hello.', { edges: [if_('current_agent_state exists', 'ask')] }),
      asks('ask', 'Ask what they want.'),
      ends(),
    ])
    model.answers([{ say: 'What do you want?' }])
    await ahead('hello')
    expect(model.requests).toHaveLength(1)
    expect(talk.variable('current_agent_state')).toBe('hi')
    expect(talk.utterances.map(line => line.text)).toEqual(['Hello.'])
  })

  it('a preemptive answer is discarded when variables change', async () => {
    const { model, spoken, turn, ahead, talk } = await orderingConversation()
    model.answers([{ say: 'Of course.' }], [{ say: 'Of course, Ana.' }])
    await ahead('one pizza')
    talk.updateVariables({ name: 'Ana' })
    await turn('one pizza')
    expect(spoken).toEqual(['Hello.', 'Of course, Ana.'])
    expect(talk.preemptive).toMatchObject({ asked: 1, used: 0, dropped: 1 })
  })

  it('the tokens of discarded preemptive answers are counted', async () => {
    const { model, ahead, talk } = await orderingConversation()
    model.answers([{ tokens: [100, 3] }, { stall: true }], [{ say: 'Of' }, { tokensWhenStopped: [90, 1] }])
    for (const words of ['one pizza', 'one pizza with']) {
      await ahead(words)
      talk.dropPreemptiveGeneration()
      await settle()
    }
    expect(talk.preemptive).toMatchObject({ dropped: 2, droppedInputTokens: 190, droppedOutputTokens: 4 })
  })

  it('a discarded preemptive request is recorded in the ledger as cancelled', async () => {
    const { talk, ahead, ledger } = await orderingConversation()
    await ahead('one pizza')
    talk.dropPreemptiveGeneration()
    await talk.settled()
    expect(ledger.records.map(row => [row.effect_kind, row.state, row.error_code])).toEqual([
      ['gateway_inference', 'failed', 'cancelled'],
    ])
  })
})
