import { ProviderError } from '@parley/providers/testing'
import { describe, expect, it } from 'vitest'
import { Conversation } from './conversation.ts'
import { asks, ends, planOf, says, when } from './testing/plans.ts'
import { conversationFixture, settle, TextConversationHarness } from './testing/text-conversation-harness.ts'
import type { UsageReport } from './usage-report.ts'

/** Sums by meter. */
function usageMeter() {
  const all: UsageReport[] = []
  const sum = (meter: UsageReport['meter']) =>
    all.filter(usage => usage.meter === meter).reduce((total, { quantity }) => total + quantity, 0)
  return {
    all,
    onUsage: (usage: UsageReport) => void all.push(usage),
    tokens: () => [sum('llm_input_tokens'), sum('llm_output_tokens')],
  }
}

/** A conversation node that never ends, so that the model is requested any number of times. */
const endlessNodes = () => [asks('desk', 'Help the caller.', { edges: [when('the caller is done', 'end')] }), ends()]

/** A conversation with preemptive generation, whose every speech is reported as heard at once. */
async function preemptiveConversation() {
  const { all, onUsage, tokens } = usageMeter()
  const fixture = conversationFixture(
    planOf([says('hi', 'Hello.', { edges: [when('the caller wants to order', 'end')] }), ends()]),
  )
  const talk: Conversation = new Conversation({
    ...fixture.options,
    clock: () => null,
    onUsage,
    onEvent: event => {
      if (event.type === 'speech-end')
        queueMicrotask(() => talk.spoken(event.speech_id, { heard: 'Hello.', interrupted: false, span: null }))
    },
  })
  talk.start()
  await settle()
  return { ...fixture, talk, all, tokens }
}

describe('the token usage of a conversation', () => {
  it('token usage is reported per request with the counts of the service, its provider and model', async () => {
    const { all, onUsage, tokens } = usageMeter()
    const talk = new TextConversationHarness(planOf(endlessNodes()), { onUsage })
    talk.model.answers([{ say: 'Hello.' }, { tokens: [100, 3] }], [{ say: 'Noon.' }, { tokens: [120, 2] }])
    await talk.start()
    await talk.say('What time is it?')
    expect(tokens()).toEqual([220, 5])
    expect(all[0]).toEqual({ meter: 'llm_input_tokens', provider: 'test', model_id: 'scripted', quantity: 100 })
    expect(all).toHaveLength(4)
  })

  it('token usage is estimated from characters when the service reports none', async () => {
    const { onUsage, tokens } = usageMeter()
    const talk = new TextConversationHarness(planOf(endlessNodes()), { onUsage })
    talk.model.answers([{ tokens: [0, 0] }], [{ say: 'Nine of..' }])
    await talk.start()
    await talk.say('What time is it?')
    const { messages, tools } = talk.model.requests[1]!
    const requestLength = messages.reduce((sum, { content }) => sum + content.length, JSON.stringify(tools).length)
    expect(tokens()).toEqual([Math.ceil(requestLength / 4), Math.ceil('Nine of..'.length / 4)])
  })

  it('a refused request uses no tokens, and every attempt that was answered counts', async () => {
    const { onUsage, tokens } = usageMeter()
    const talk = new TextConversationHarness(planOf(endlessNodes()), { onUsage })
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
    const { model, talk, tokens } = await preemptiveConversation()
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
    const { model, talk, tokens } = await preemptiveConversation()
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
    const { model, talk, all, tokens } = await preemptiveConversation()
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
    const { model, talk, time } = await preemptiveConversation()
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
