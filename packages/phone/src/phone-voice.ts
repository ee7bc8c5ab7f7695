import { type Ms, systemTime, type Time } from '@parley/kernel'
import type { TextToSpeech } from '@parley/providers'
import { PhoneError } from './errors.ts'

/** Longest synthesis of one text. */
const TIMEOUT_MS: Ms = 60_000

/** A voice of the service and its speed; default: its first voice for the language, at speed 1. */
interface SpokenVoice {
  readonly voice?: string
  readonly speed?: number
}

/** The text-to-speech voice of a phone. */
export class PhoneVoice {
  readonly #voice: TextToSpeech
  readonly #language: string
  readonly #time: Time
  readonly #options: SpokenVoice

  /** `language`: BCP 47. */
  constructor(voice: TextToSpeech, language: string, time: Time = systemTime, options: SpokenVoice = {}) {
    this.#voice = voice
    this.#language = language
    this.#time = time
    this.#options = options
  }

  /** The whole of `text` as 8 kHz audio. Throws what the voice throws, and "voice_timeout" after a minute. */
  async render(text: string): Promise<Int16Array> {
    const stop = new AbortController()
    const timer = this.#time.at(this.#time.now() + TIMEOUT_MS, () => stop.abort())
    try {
      const chunks: Int16Array[] = []
      for await (const { samples } of this.#voice.synthesize(
        { text, language: this.#language, ...this.#options },
        stop.signal,
      ))
        chunks.push(samples)
      if (stop.signal.aborted)
        throw new PhoneError('voice_timeout', `the voice "${this.#voice.id}" did not finish within 60 s`)
      return joined(chunks)
    } finally {
      timer.cancel()
    }
  }
}

function joined(chunks: readonly Int16Array[]): Int16Array {
  const audio = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    audio.set(chunk, at)
    at += chunk.length
  }
  return audio
}
