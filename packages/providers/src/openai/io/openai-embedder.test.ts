import { type FakeEmbeddingStyle, FakeOpenAiEmbeddings } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll } from 'vitest'
import { type EmbedderUnderTest, textEmbedderConformance } from '../../embedding/testing/conformance.ts'
import { OpenAiEmbedder } from './openai-embedder.ts'

const STYLES: Readonly<Record<string, FakeEmbeddingStyle>> = {
  'of OpenAI': { dimensions: 64 },
  'of a service that answers in any order': { shuffled: true },
  'of a service that knows numbers only, and no indexes': { alwaysNumbers: true, withoutIndexes: true },
}

for (const [name, style] of Object.entries(STYLES)) {
  const fake = await FakeOpenAiEmbeddings.open({ style, key: 'sk-test' })
  afterAll(() => fake.close())
  textEmbedderConformance(name, () => underTest(fake))
}

function underTest(fake: FakeOpenAiEmbeddings): EmbedderUnderTest {
  const before = fake.abandoned
  return {
    embedder: new OpenAiEmbedder({ baseUrl: fake.baseUrl, apiKey: 'sk-test', time: runningTime }),
    script: step => fake.script(step.do === 'turn-away' ? { ...step, retryAfter: '0' } : step),
    requests: () => fake.requests.length,
    abandoned: () => fake.abandoned - before,
    close: async () => {},
  }
}
