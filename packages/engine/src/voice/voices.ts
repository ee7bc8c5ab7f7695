import { type Ms, NARROWBAND, ParleyError, samplesToMs, type Time } from '@parley/kernel'
import type { SpeechChunk } from '@parley/providers'
import { renderSentence, type VoiceChoice } from './utterance-audio.ts'

/** A voice failed; what is done about it. */
export interface VoiceFailure {
  readonly error: ParleyError
  /** `gave-up`: no voice is left. */
  readonly remedy: 'asked-again' | 'next-voice' | 'gave-up'
}

/**
 * The voices of a call, in order of preference. One that fails is asked once more where it may work and nothing of the
 * sentence was heard, or no other is left; one that fails again before it has said a sentence to its end is given up: the
 * next one takes over, for the rest of the call. Whoever goes on does so at the word where the other broke off.
 */
export class Voices {
  readonly #choices: readonly VoiceChoice[]
  readonly #time: Time
  readonly #onTrouble: (trouble: VoiceFailure) => void
  #current = 0
  /** Of the current voice since it last said a sentence to its end. */
  #failures = 0

  /** `choices`: at least one. */
  constructor(choices: readonly VoiceChoice[], time: Time, onTrouble: (trouble: VoiceFailure) => void) {
    this.#choices = choices
    this.#time = time
    this.#onTrouble = onTrouble
  }

  /** Audio of one sentence; throws the last voice's `ParleyError`. Ends at once, without an error, when `signal` aborts. */
  async *render(text: string, speed: number, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    const progress = new Progress(text)
    for (;;) {
      const current = this.#current
      const choice = this.#choices[current]!
      const heardBefore = progress.ms
      try {
        for await (const chunk of renderSentence(progress.rest(), choice, speed, this.#time, signal))
          yield progress.add(chunk, heardBefore)
        if (!signal.aborted && current === this.#current) this.#failures = 0
        return
      } catch (cause) {
        if (signal.aborted) return
        // Another sentence found it out before: the next one goes on.
        if (current !== this.#current) continue
        const error = voiceError(cause)
        if (!this.#recovers(error, progress.ms > heardBefore)) throw error
      }
    }
  }

  #recovers(error: ParleyError, wasHeard: boolean): boolean {
    const hasNext = this.#current + 1 < this.#choices.length
    const asksAgain = ++this.#failures === 1 && error.retryable && !(wasHeard && hasNext)
    if (!asksAgain && hasNext) {
      this.#current++
      this.#failures = 0
    }
    const remedy = asksAgain ? 'asked-again' : hasNext ? 'next-voice' : 'gave-up'
    this.#onTrouble({ error, remedy })
    return remedy !== 'gave-up'
  }
}

/** How much of a sentence was rendered, by whatever voice. */
class Progress {
  readonly #tokens: readonly string[]
  #words = 0
  /** Words that were told: the one that was cut is said again, and told once. */
  #told = 0
  /** Words of this rendering begin at this token. */
  #from = 0
  ms: Ms = 0

  constructor(text: string) {
    this.#tokens = text.split(/\s+/)
  }

  /** What is still to be said: from the word that was cut on; all of it where the voice did not tell its words. */
  rest(): string {
    const wasHeard = this.#words > this.#from
    this.#from = Math.min(wasHeard ? this.#words - 1 : this.#from, this.#tokens.length - 1)
    this.#words = this.#from
    return this.#tokens.slice(this.#from).join(' ')
  }

  /** Words are counted and timed over the whole sentence. */
  add(chunk: SpeechChunk, heardBefore: Ms): SpeechChunk {
    this.ms += samplesToMs(chunk.samples.length, NARROWBAND)
    const known = Math.max(0, this.#told - this.#words)
    this.#words += chunk.words.length
    this.#told = Math.max(this.#told, this.#words)
    if (heardBefore === 0) return chunk
    const words = chunk.words.slice(known)
    return { ...chunk, words: words.map(word => ({ ...word, startMs: word.startMs + heardBefore })) }
  }
}

function voiceError(cause: unknown): ParleyError {
  return cause instanceof ParleyError ? cause : new ParleyError('voice_failed', 'the voice failed', { cause })
}
