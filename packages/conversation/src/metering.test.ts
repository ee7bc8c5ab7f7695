import { ProviderError } from '@parley/providers/testing'
import { describe, expect, it } from 'vitest'
import { Conversation } from './conversation.ts'
import { asks, ends, planOf, says, when } from './testing/plans.ts'
import { conversationFixture, settle, TextConversationHarness } from './testing/text-conversation-harness.ts'
import type { UsageReport } from './usage-report.ts'

/** Sums by meter. */
function bill() {
  const all: UsageReport[] = []
  const sum = (meter: UsageReport['meter']) =>
    all.filter(usage => usage.meter === meter).reduce((total, { quantity }) => total + quantity, 0)
  return {
    all,
    onUsage: (usage: UsageReport) => void all.push(usage),
    tokens: () => [sum('llm_input_tokens'), sum('llm_output_tokens')],
  }
}

/** Somebody who is asked, and may be asked on and on. */
const desk = () => [asks('desk', 'Help the caller.', { edges: [when('the caller is done', 'end')] }), ends()]

/** A conversation whose caller may be about to finish; nothing of it is ever heard. */
async function voiced() {
  const { all, onUsage, tokens } = bill()
  const set = conversationFixture(
    planOf([says('hi', 'Hello.', { edges: [when('the caller wants to order', 'end')] }), ends()]),
  )
  const talk: Conversation = new Conversation({
    ...set.options,
    clock: () => null,
    onUsage,
    onEvent: event => {
      if (event.type === 'speech-end')
        queueMicrotask(() => talk.spoken(event.speech_id, { heard: 'Hello.', interrupted: false, span: null }))
    },
  })
  talk.start()
  await settle()
  return { ...set, talk, all, tokens }
}

describe('the token usage of a conversation', () => {
  it('token usage is reported per request with the counts of the service, its provider and model', async () => {
    const { all, onUsage, tokens } = bill()
    const talk = new TextConversationHarness(planOf(desk()), { onUsage })
    talk.model.answers([{ say: 'Hello.' }, { tokens: [100, 3] }], [{ say: 'Noon.' }, { tokens: [120, 2] }])
    await talk.start()
    await talk.say('What time is it?')
    expect(tokens()).toEqual([220, 5])
    expect(all[0]).toEqual({ meter: 'llm_input_tokens', provider: 'test', model_id: 'scripted', quantity: 100 })
    expect(all).toHaveLength(4)
  })

  it('token usage is estimated from characters when the service reports none', async () => {
    const { onUsage, tokens } = bill()
    const talk = new TextConversationHarness(planOf(desk()), { onUsage })
    talk.model.answers([{ tokens: [0, 0] }], [{ say: 'Nine of..' }])
    await talk.start()
    await talk.say('What time is it?')
    const { messages, tools } = talk.model.requests[1]!
    const asked = messages.reduce((sum, { content }) => sum + content.length, JSON.stringify(tools).length)
    expect(tokens()).toEqual([Math.ceil(asked / 4), Math.ceil('Nine of..'.length / 4)])
  })

  it('a refused request uses no tokens, and every attempt that was answered counts', async () => {
    const { onUsage, tokens } = bill()
    const talk = new TextConversationHarness(planOf(desk()), { onUsage })
    const busy = new ProviderError('model_busy', 'Too many requests.', { retryable: true })
    talk.model.answers([{ fail: busy }], [{ say: 'Hello.' }, { tokens: [100, 3] }])
    const started = talk.start()
    await settle()
    talk.fixture.time.advance(250)
    await started
    expect(tokens()).toEqual([100, 3])
    talk.model.answers([{ say: 'It is' }, { tokens: [50, 2] }, { fail: busy }])
    await talk.say('Time?')
    expect(tokens()).toEqual([150, 5])
  })

  it('a preemptive answer that is used counts once', async () => {
    const { model, talk, tokens } = await voiced()
    model.answers([{ say: 'Of course.' }, { tokens: [100, 3] }])
    talk.startPreemptiveGeneration('one pizza')
    await settle()
    talk.userTurn({ text: 'One pizza.', span: null, observed_ms: null })
    await settle()
    expect(tokens()).toEqual([100, 3])
    await talk.settled()
    expect(tokens()).toEqual([100, 3])
  })

  it('a discarded preemptive answer counts, even before its first word', async () => {
    const { model, talk, tokens } = await voiced()
    model.answers([{ say: 'Of course.' }, { tokens: [100, 3] }], [{ tokens: [90, 1] }, { stall: true }])
    talk.startPreemptiveGeneration('one pizza')
    await settle()
    talk.dropPreemptiveGeneration()
    talk.startPreemptiveGeneration('one pizza and')
    await settle()
    talk.dropPreemptiveGeneration()
    await talk.settled()
    expect(tokens()).toEqual([190, 4])
  })

  it('an answer that a hang-up aborts is counted before the conversation has settled', async () => {
    const { model, talk, all, tokens } = await voiced()
    model.answers([{ say: 'Once upon a time' }, { stall: true }])
    talk.userTurn({ text: 'A story', span: null, observed_ms: null })
    await settle()
    expect(all).toEqual([])
    talk.stop()
    await talk.settled()
    const [input, output] = tokens()
    expect(input).toBeGreaterThan(0)
    expect(output).toBe(4)
  })

  it('a model that ignores aborts does not delay the end of the conversation', async () => {
    const { model, talk, time } = await voiced()
    model.ignoresAborts = true
    model.answers([{ say: 'Once upon a time' }, { stall: true }])
    talk.userTurn({ text: 'A story', span: null, observed_ms: null })
    await settle()
    talk.stop()
    const settled = talk.settled().then(() => 'settled')
    await settle()
    time.advance(250)
    expect(await settled).toBe('settled')
  })
})
