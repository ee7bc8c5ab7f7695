import { type AudioFormat, RecentMap, type Time } from '@parley/kernel'
import type { SpeechChunk } from '@parley/providers'
import { renderSentence, spokenForm, type VoiceChoice } from './utterance-audio.ts'

/** Texts of one voice that stay ready: those of the calls that came last. */
const MAX_TEXTS = 100

type Prepared = readonly SpeechChunk[] | 'rendering'

/** Texts that are synthesised before they are needed, by voice service; all calls of a process share them. */
const AUDIO = new WeakMap<object, RecentMap<string, Prepared>>()

/** Audio of texts such as holding lines, which must be audible at once, also while the voice stalls. */
export class PreparedAudio {
  readonly #choice: VoiceChoice
  readonly #format: AudioFormat
  readonly #time: Time
  readonly #texts: RecentMap<string, Prepared>

  /** `shared`: instances with the same object share what is ready; default: all of the voice service. */
  constructor(choice: VoiceChoice, format: AudioFormat, time: Time, shared: object = choice.voice) {
    this.#choice = choice
    this.#format = format
    this.#time = time
    this.#texts = AUDIO.get(shared) ?? new RecentMap(MAX_TEXTS)
    AUDIO.set(shared, this.#texts)
  }

  /** Synthesises those of the texts that are not ready, one after the other. A text that fails is tried again with the next call. */
  async prepare(texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      const key = this.#key(text)
      if (this.#texts.get(key) !== undefined) continue
      this.#texts.set(key, 'rendering')
      const audio = await this.#render(text)
      if (audio === null) this.#texts.delete(key)
      else this.#texts.set(key, audio)
    }
  }

  audioOf(text: string): readonly SpeechChunk[] | undefined {
    const audio = this.#texts.get(this.#key(text))
    return audio === 'rendering' ? undefined : audio
  }

  async #render(text: string): Promise<readonly SpeechChunk[] | null> {
    const { signal } = new AbortController()
    const chunks: SpeechChunk[] = []
    try {
      const options = { speed: 1, format: this.#format, time: this.#time, signal }
      for await (const chunk of renderSentence(text, this.#choice, options)) chunks.push(chunk)
    } catch {
      return null
    }
    return chunks
  }

  #key(text: string): string {
    const { language, voiceId, temperature } = this.#choice
    const spoken = spokenForm(text, this.#choice)
    return JSON.stringify([language, voiceId, temperature ?? 1, this.#format.sampleRateHz, spoken])
  }
}
