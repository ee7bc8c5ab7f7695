import { expect, it } from 'vitest'
import { RealtimeResponse } from './realtime-response.ts'

async function usageIn(usage: object) {
  const response = new RealtimeResponse('event_1', true, { onMessage: () => {}, onCall: () => {}, onPlayed: () => {} })
  response.receive({ type: 'response.done', response: { status: 'completed', usage } })
  return response.next(new AbortController().signal)
}

it('the tokens of an answer are counted with those of audio among them', async () => {
  const usage = {
    total_tokens: 253,
    input_tokens: 132,
    output_tokens: 121,
    input_token_details: { text_tokens: 119, audio_tokens: 13, cached_tokens: 64 },
    output_token_details: { text_tokens: 30, audio_tokens: 91 },
  }
  expect(await usageIn(usage)).toEqual({
    type: 'usage',
    inputTokens: 132,
    outputTokens: 121,
    cachedInputTokens: 64,
    audio: { inputTokens: 13, outputTokens: 91 },
  })
  expect(await usageIn({ input_tokens: 5, output_tokens: 'x', output_token_details: null })).toEqual({
    type: 'usage',
    inputTokens: 5,
    outputTokens: 0,
    cachedInputTokens: 0,
  })
})
