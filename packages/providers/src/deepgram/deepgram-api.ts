import type { AudioFormat } from '@parley/kernel'
import { encodingFor } from '../service-encoding.ts'

/** Base URL of Deepgram's streaming API. */
export const DEEPGRAM_URL = 'wss://api.deepgram.com'

/** Value of the Authorization header. */
export function deepgramToken(apiKey: string): string {
  return `Token ${apiKey}`
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
