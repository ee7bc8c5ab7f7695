import type { TextToSpeech } from '@parley/providers'

type SpeechRequest = Parameters<TextToSpeech['synthesize']>[0]

/** The audio of a request to a deterministic voice, made again and cut into chunks of other lengths. */
export class RepeatedSpeech {
  readonly #voice: TextToSpeech
  readonly #request: SpeechRequest
  #chunks: Int16Array[] = []

  constructor(voice: TextToSpeech, request: SpeechRequest) {
    this.#voice = voice
    this.#request = request
  }

  /** Synthesises the whole text. A voice that fails leaves silence. */
  async render(): Promise<void> {
    const chunks: Int16Array[] = []
    try {
      for await (const { samples } of this.#voice.synthesize(this.#request, new AbortController().signal))
        chunks.push(samples)
    } catch {
      return
    }
    this.#chunks = chunks
  }

  /** The next `count` samples; silence after the end. */
  take(count: number): Int16Array {
    const taken = new Int16Array(count)
    for (let filled = 0; filled < count; ) {
      const first = this.#chunks[0]
      if (first === undefined) break
      const part = first.subarray(0, count - filled)
      taken.set(part, filled)
      filled += part.length
      if (part.length === first.length) this.#chunks.shift()
      else this.#chunks[0] = first.subarray(part.length)
    }
    return taken
  }
}
