import type { AudioFormat } from '@parley/kernel'
import type { JsonObject } from '../json-object.ts'
import { encodingFor } from '../service-encoding.ts'
import { primaryTag } from '../text-to-speech/request.ts'

/** Base URL of Deepgram's streaming API. */
export const DEEPGRAM_URL = 'wss://api.deepgram.com'

/** The header that carries the key. */
export function deepgramToken(apiKey: string): Readonly<Record<string, string>> {
  return { authorization: `Token ${apiKey}` }
}

/** Query parameters that describe the audio of a stream or an utterance. */
export function deepgramAudio({ format }: { readonly format?: AudioFormat }): {
  readonly encoding: string
  readonly sample_rate: string
} {
  const encoding = encodingFor(format)
  return {
    encoding: encoding.kind === 'mu-law' ? 'mulaw' : 'linear16',
    sample_rate: String(encoding.format.sampleRateHz),
  }
}

/** Primary tag of the first of `languages`, which the service lists by the number of words; null: it lists none. */
export function firstLanguage({ languages }: JsonObject): string | null {
  const first: unknown = Array.isArray(languages) ? languages[0] : null
  return typeof first === 'string' && first !== '' ? primaryTag(first) : null
}
