import type { AudioFormat, Ms } from '@parley/kernel'
import { ResamplingStream } from '@parley/media'
import type { ModelSpeech, SpeechChunk } from '@parley/providers'

/** Pace at which words count as heard while the length of the speech is not known: 150 a minute. */
export const OWN_SPEECH_WORD_MS: Ms = 400

/** A speech of a model that speaks itself: audio and words as they arrive, in place of a voice's. */
export class OwnSpeech {
  readonly #speech: ModelSpeech
  readonly #resampling: ResamplingStream | null
  readonly #chunks: SpeechChunk[] = []
  #text = ''
  #isComplete = false
  #wake: (() => void) | null = null

  /** `format`: of the call. */
  constructor(speech: ModelSpeech, format: AudioFormat) {
    const from = speech.format.sampleRateHz
    const to = format.sampleRateHz
    this.#speech = speech
    this.#resampling = from === to ? null : new ResamplingStream(from, to)
  }

  /** The words that have arrived, which may be ahead of their audio. */
  get text(): string {
    return this.#text.trim()
  }

  push(delta: string, samples: Int16Array): void {
    this.#text += delta
    if (samples.length > 0) this.#add(this.#resampling?.push(samples) ?? samples)
  }

  /** No more comes. */
  end(): void {
    if (this.#isComplete) return
    this.#isComplete = true
    this.#add(this.#resampling?.end() ?? new Int16Array(0))
  }

  /** `audioMs` of it were played, which the caller heard as `text`. */
  heard(audioMs: Ms, text: string): void {
    this.#speech.heard(audioMs, text)
  }

  /** The audio as it arrives; ends after `end`, or when `signal` aborts. */
  async *chunks(signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    const wake = () => this.#wake?.()
    signal.addEventListener('abort', wake, { once: true })
    try {
      while (!signal.aborted) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) yield chunk
        else if (this.#isComplete) return
        else
          await new Promise<void>(resolve => {
            this.#wake = resolve
          })
      }
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  #add(samples: Int16Array): void {
    if (samples.length > 0) this.#chunks.push({ samples, words: [] })
    this.#wake?.()
  }
}
