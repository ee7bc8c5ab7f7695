import type { GenerationEvent, LanguageModel } from '@parley/providers'
import { expect, it } from 'vitest'
import type { UsageReport } from '../usage-report.ts'
import { ModelMeter } from './model-meter.ts'

/** A model whose every answer has this usage. */
function modelWith(usage: Extract<GenerationEvent, { type: 'usage' }>): LanguageModel {
  return {
    identity: { provider: 'openai', model: 'gpt-realtime' },
    readiness: async () => null,
    async *generate() {
      yield usage
      yield { type: 'finished', reason: 'stop' }
    },
    close: async () => {},
  }
}

async function quantities(usage: Extract<GenerationEvent, { type: 'usage' }>): Promise<Record<string, number>> {
  const reports: UsageReport[] = []
  const model = new ModelMeter(report => reports.push(report)).metered(modelWith(usage))
  for await (const _event of model.generate({ messages: [] }, new AbortController().signal));
  return Object.fromEntries(reports.map(({ meter, quantity }) => [meter, quantity]))
}

it('tokens of audio are reported apart from the other tokens of an answer', async () => {
  const usage = { type: 'usage', inputTokens: 500, outputTokens: 230, cachedInputTokens: 64 } as const
  expect(await quantities({ ...usage, audio: { inputTokens: 400, outputTokens: 200 } })).toEqual({
    llm_input_tokens: 100,
    llm_output_tokens: 30,
    llm_audio_input_tokens: 400,
    llm_audio_output_tokens: 200,
  })
  expect(await quantities(usage)).toEqual({ llm_input_tokens: 500, llm_output_tokens: 230 })
  expect(await quantities({ ...usage, audio: { inputTokens: 900, outputTokens: 0 } })).toEqual({
    llm_audio_input_tokens: 500,
    llm_output_tokens: 230,
  })
})
