import { type FakeChatStyle, type FakeModelStep, FakeOpenAiChat } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll } from 'vitest'
import {
  languageModelConformance,
  type ModelUnderTest,
  type ServiceStep,
} from '../../language-model/testing/conformance.ts'
import { OpenAiChat } from './openai-chat.ts'

const STYLES: Readonly<Record<string, FakeChatStyle>> = {
  'of a service like OpenAI': {},
  'of a service whose bytes come one by one': { pieces: 3 },
  'of a service with other line ends, comments, and no blanks': {
    lineEnd: '\r\n',
    tight: true,
    comments: true,
    pieces: 7,
  },
  'of a service that ends everything with "stop" and never with [DONE]': { alwaysStop: true, withoutDone: true },
  'of a service that repeats names and writes nulls': { repeating: true, nulls: true },
}

for (const [name, style] of Object.entries(STYLES)) {
  const fake = await FakeOpenAiChat.open({ style })
  afterAll(() => fake.close())
  languageModelConformance(name, () => underTest(fake))
}

function underTest(fake: FakeOpenAiChat): ModelUnderTest {
  const before = fake.abandoned
  return {
    model: new OpenAiChat({ baseUrl: fake.baseUrl, apiKey: 'sk-test', model: 'gpt-test', time: runningTime }),
    script: steps => fake.script(...steps.map(inWordsOfVendor)),
    abandoned: () => fake.abandoned - before,
    close: async () => {},
  }
}

function inWordsOfVendor(step: ServiceStep): FakeModelStep {
  return step.do === 'finish' ? { ...step, reason: step.reason.replace('-', '_') } : step
}
