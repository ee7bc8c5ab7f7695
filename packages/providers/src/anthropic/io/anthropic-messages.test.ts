import { FakeAnthropic, type FakeMessagesStyle, type FakeModelStep } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll, expect, it } from 'vitest'
import {
  languageModelConformance,
  type ModelUnderTest,
  type ServiceStep,
} from '../../language-model/testing/conformance.ts'
import { AnthropicMessages } from './anthropic-messages.ts'

const STYLES: Readonly<Record<string, FakeMessagesStyle>> = {
  'of Anthropic': {},
  'of Anthropic, byte by byte': { pieces: 3 },
  'of a service like Anthropic, with other line ends, comments and unknown events': {
    lineEnd: '\r\n',
    tight: true,
    comments: true,
    novelties: true,
    pieces: 7,
  },
  'of a service like Anthropic that writes several blocks at a time': { interleaved: true },
  'of a service like Anthropic that ends everything with "end_turn" and never with "message_stop"': {
    alwaysEndTurn: true,
    withoutStop: true,
    interleaved: true,
  },
}

const REASONS = { stop: 'end_turn', 'tool-calls': 'tool_use', length: 'max_tokens' } as const

for (const [name, style] of Object.entries(STYLES)) {
  const fake = await FakeAnthropic.open({ style, key: 'sk-ant-test' })
  afterAll(() => fake.close())
  languageModelConformance(name, () => underTest(fake))
}

function underTest(fake: FakeAnthropic): ModelUnderTest {
  const before = fake.abandoned
  return {
    model: new AnthropicMessages({
      baseUrl: fake.origin,
      apiKey: 'sk-ant-test',
      model: 'claude-haiku-4-5',
      time: runningTime,
    }),
    script: steps => fake.script(...steps.map(inWordsOfVendor)),
    abandoned: () => fake.abandoned - before,
    close: async () => {},
  }
}

function inWordsOfVendor(step: ServiceStep): FakeModelStep {
  return step.do === 'finish' ? { ...step, reason: REASONS[step.reason] } : step
}

it('an abandoned answer reports the usage that the service counted before the text', async () => {
  const fake = await FakeAnthropic.open({ key: 'sk-ant-test' })
  const { model, script } = underTest(fake)
  try {
    script([{ do: 'say', text: 'Once upon a time' }, { do: 'report-usage', input: 31, output: 12 }, { do: 'stall' }])
    const controller = new AbortController()
    const events: string[] = []
    for await (const event of model.generate({ messages: [{ role: 'user', content: 'Hi' }] }, controller.signal)) {
      events.push(event.type)
      if (event.type === 'usage') expect(event).toMatchObject({ inputTokens: 31, outputTokens: 1 })
      controller.abort()
    }
    expect(events).toEqual(['text', 'usage'])
  } finally {
    await model.close()
    await fake.close()
  }
})
