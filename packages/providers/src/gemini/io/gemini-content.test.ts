import { type FakeContentStyle, FakeGemini, type FakeModelStep } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll } from 'vitest'
import {
  languageModelConformance,
  type ModelUnderTest,
  type ServiceStep,
} from '../../language-model/testing/conformance.ts'
import { GeminiContent } from './gemini-content.ts'

const STYLES: Readonly<Record<string, FakeContentStyle>> = {
  'of Google': {},
  'of Google, byte by byte': { pieces: 3 },
  'of Google, with other line ends and comments': { lineEnd: '\r\n', tight: true, comments: true, pieces: 7 },
}
const REASONS = { stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS' } as const
const MODELS = ['gemini-3.8-flash', 'gemini-2.5-flash']

for (const [name, style] of Object.entries(STYLES)) {
  const fake = await FakeGemini.open({ style, key: 'test-key' })
  afterAll(() => fake.close())
  for (const model of MODELS) languageModelConformance(`${model} ${name}`, () => underTest(fake, model))
}

function underTest(fake: FakeGemini, model: string): ModelUnderTest {
  const before = fake.abandoned
  return {
    model: new GeminiContent({ baseUrl: fake.baseUrl, apiKey: 'test-key', model, time: runningTime }),
    sendsParsedArguments: true,
    script: steps => fake.script(...steps.map(inWordsOfVendor)),
    abandoned: () => fake.abandoned - before,
    close: async () => {},
  }
}

function inWordsOfVendor(step: ServiceStep): FakeModelStep {
  return step.do === 'finish' ? { ...step, reason: REASONS[step.reason] } : step
}
