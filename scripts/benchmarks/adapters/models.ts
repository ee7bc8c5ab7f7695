import { FakeAnthropic, type FakeModelService, type FakeModelStep, FakeOpenAiChat } from '@parley/fakes'
import { systemTime } from '@parley/kernel'
import type { LanguageModel } from '@parley/providers'
import { AnthropicMessages, OpenAiChat } from '@parley/providers/testing'
import type { AdapterSubject, AdapterUnderLoad, CallFigures } from './subject.ts'

/** Of call for each turn: the caller's words, and the agent's. */
const TURN_SECONDS = 6
/** An answer of two sentences, one token after the other. */
const TOKENS = 40
const TOKEN_MS = 10
const TURNS_OF_HISTORY = 20

/** Language model services: each call sends one request per turn, with a history of some minutes, and gets the answer as a stream. */
export const MODELS: readonly AdapterSubject[] = [
  {
    name: 'openai-chat',
    openFake: () => opened(FakeOpenAiChat.open({ otherwise: answerEndingWith('stop') })),
    open: url =>
      underLoad(new OpenAiChat({ baseUrl: `${url}/v1`, apiKey: 'key', model: 'gpt-4o-mini', time: systemTime })),
  },
  {
    name: 'anthropic',
    openFake: () => opened(FakeAnthropic.open({ otherwise: answerEndingWith('end_turn') })),
    open: url =>
      underLoad(new AnthropicMessages({ baseUrl: url, apiKey: 'key', model: 'claude-haiku-4-5', time: systemTime })),
  },
]

function answerEndingWith(reason: string): readonly FakeModelStep[] {
  const tokens = Array.from({ length: TOKENS }, (): FakeModelStep[] => [
    { do: 'wait', ms: TOKEN_MS },
    { do: 'say', text: ' word' },
  ])
  return [...tokens.flat(), { do: 'finish', reason }, { do: 'report-usage', input: 900, output: TOKENS }]
}

async function opened(opening: Promise<FakeModelService>) {
  const fake = await opening
  return { url: fake.origin, close: () => fake.close() }
}

function underLoad(model: LanguageModel): AdapterUnderLoad {
  const history = Array.from({ length: TURNS_OF_HISTORY }, (_, i) => [
    {
      role: 'user',
      content: `Could I have the ${i}th of May instead, in the afternoon, if that is possible?`,
    } as const,
    { role: 'assistant', content: `The ${i}th is full, I am afraid; there is a place at half past nine.` } as const,
  ])
  const messages = [
    { role: 'system', content: 'You answer the phone of a clinic. '.repeat(30) } as const,
    ...history.flat(),
    { role: 'user', content: 'And the day after?' } as const,
  ]
  return {
    async call(seconds): Promise<CallFigures> {
      const firstMs: number[] = []
      const turns = Math.max(1, Math.round(seconds / TURN_SECONDS))
      for (let turn = 0; turn < turns; turn++) {
        const requestedAt = performance.now()
        let tokens = 0
        for await (const event of model.generate({ messages }, new AbortController().signal)) {
          if (event.type !== 'text') continue
          if (tokens++ === 0) firstMs.push(performance.now() - requestedAt)
        }
        if (tokens !== TOKENS) throw new Error(`an answer had ${tokens} tokens`)
      }
      return { audioS: turns * TURN_SECONDS, firstMs }
    },
    close: () => model.close(),
  }
}
