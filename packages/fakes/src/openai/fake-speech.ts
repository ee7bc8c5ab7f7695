import { objectFrom } from '../json-object.ts'
import type { FakeHttpAnswer } from '../models/model-dialect.ts'
import { FakeHttpVoice, type HttpVoiceDialect } from '../voices/fake-http-voice.ts'
import type { FakeVoiceOptions } from '../voices/fake-voice.ts'
import { LINEAR_24_KHZ } from '../voices/wire-audio.ts'
import { openAiError } from './openai-refusal.ts'

const MAX_CHARACTERS = 4096

const DIALECT: HttpVoiceDialect = {
  base: '/v1',
  path: '/v1/audio/speech',
  hasKey: ({ authorization }, apiKey) => authorization === `Bearer ${apiKey}`,
  read: text => {
    const body = objectFrom(text)
    const fault = faultOf(body)
    if (fault !== null) return refusal(...fault)
    const input = String(body!.input)
    const language = /[áéíóúñ¿¡]/.test(input) ? 'es' : 'en'
    return { text: input, speed: Number(body!.speed ?? 1), language, encoding: LINEAR_24_KHZ }
  },
  refusal: (status, key) => {
    if (status === 401) return refusal(401, 'invalid_api_key', `Incorrect API key provided: ${key}.`)
    return refusal(status, status === 429 ? 'rate_limit_exceeded' : null, status === 404 ? 'Invalid URL' : 'Refused.')
  },
  document: null,
}

/** OpenAI's `/v1/audio/speech`: 24 kHz linear audio as a stream over HTTP. */
export class FakeSpeechService extends FakeHttpVoice {
  static async open(options: FakeVoiceOptions): Promise<FakeSpeechService> {
    return new FakeSpeechService(...(await FakeHttpVoice.listen(DIALECT, options)))
  }
}

function refusal(status: number, code: string | null, message: string): FakeHttpAnswer {
  return openAiError(status, status === 429 ? 'rate_limit_error' : 'invalid_request_error', code, message)
}

function faultOf(body: Readonly<Record<string, unknown>> | null): readonly [number, string, string] | null {
  if (body === null || typeof body.model !== 'string') return [400, 'invalid_body', 'We could not parse the body.']
  if (typeof body.input !== 'string' || body.input === '' || [...body.input].length > MAX_CHARACTERS)
    return [400, 'string_too_long', 'Invalid input.']
  if (body.voice === 'unknown') return [400, 'invalid_value', "Input should be 'alloy', 'ash' or others."]
  if (body.response_format !== 'pcm') return [400, 'invalid_value', 'This fake makes pcm only.']
  const speed = Number(body.speed ?? 1)
  return speed >= 0.25 && speed <= 4 ? null : [400, 'invalid_value', 'Invalid speed.']
}
