import { type Ms, msToSamples, NARROWBAND } from '@parley/kernel'
import { ProviderError } from '../errors.ts'
import { checkStreamOptions } from '../speech-to-text/check-stream-options.ts'
import type { SpeechStream, SpeechStreamOptions, SpeechToText } from '../speech-to-text/speech-to-text.ts'
import { TonesStream } from './tones-stream.ts'

const DEFAULT_ENDPOINTING_MS: Ms = 300
/** The demodulator detects a word only 200 ms after its start. */
const MIN_ENDPOINTING_MS: Ms = 200

/**
 * The built-in recogniser: decodes the tones that `TonesVoice` adds to its speech, so it recognises exactly the words that
 * arrive over the line. Other speech is reported as "unintelligible". Keywords are ignored. `endpointingMs`: default
 * 300, at least 200.
 */
export class TonesRecogniser implements SpeechToText {
  readonly id = 'simulated/tones-1'
  readonly languages = ['en', 'es']
  readonly billsSilence = false
  readonly #streams = new Set<TonesStream>()
  #closed = false

  async readiness(): Promise<string | null> {
    return null
  }

  open(options: SpeechStreamOptions): SpeechStream {
    if (this.#closed) throw new ProviderError('recogniser_closed', 'This recogniser was closed.')
    checkStreamOptions(options, this)
    const endpointingMs = Math.max(options.endpointingMs ?? DEFAULT_ENDPOINTING_MS, MIN_ENDPOINTING_MS)
    const stream = new TonesStream(msToSamples(endpointingMs, NARROWBAND), () => this.#streams.delete(stream), options)
    this.#streams.add(stream)
    return stream
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const stream of this.#streams) stream.close()
  }
}
