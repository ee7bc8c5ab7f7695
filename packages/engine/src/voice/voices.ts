import { type AudioFormat, hedge, type Ms, ParleyError, samplesToMs, type Time } from '@parley/kernel'
import type { SpeechChunk } from '@parley/providers'
import { EngineError } from '../errors.ts'
import { renderSentence, type VoiceChoice } from './utterance-audio.ts'

/** A failure of a voice and the reaction to it. */
export interface VoiceFailure {
  readonly error: ParleyError
  /** `gave-up`: no voice is left. */
  readonly remedy: 'asked-again' | 'next-voice' | 'gave-up'
}

/** How late voices are helped. */
interface VoiceHedging {
  /** A voice without audio after this time is late, and the next voice (the same one, where there is no other) is asked as well. Default: never. */
  readonly lateAfterMs?: Ms
  readonly onLate?: (other: VoiceChoice) => void
  /** Audio of the text that is ready to be played. */
  readonly prepared?: (text: string) => readonly SpeechChunk[] | undefined
}

/**
 * The voices of a call, in order of preference. After a retryable failure a voice is asked once more if nothing of the
 * sentence was heard or no other voice is left. If it fails again before it completes a sentence, the next voice
 * replaces it for the rest of the call and continues at the word where the other stopped.
 */
export class Voices {
  readonly #hedging: VoiceHedging
  #choices: readonly VoiceChoice[]
  readonly #format: AudioFormat
  readonly #time: Time
  readonly #onFailure: (failure: VoiceFailure) => void
  #current = 0
  /** Failures of the current voice since its last complete sentence. */
  #failures = 0

  /** `choices`: at least one. `format`: of the call, and so of the rendered audio. */
  constructor(
    choices: readonly VoiceChoice[],
    format: AudioFormat,
    time: Time,
    onFailure: (failure: VoiceFailure) => void,
    hedging: VoiceHedging = {},
  ) {
    this.#hedging = hedging
    this.#choices = choices
    this.#format = format
    this.#time = time
    this.#onFailure = onFailure
  }

  /** Replaces the voices, for another language. Those that have failed are not the first again, unless none is left. */
  change(choices: readonly VoiceChoice[]): void {
    const failed = new Set(this.#choices.slice(0, this.#current).map(({ voice }) => voice))
    this.#choices = [
      ...choices.filter(({ voice }) => !failed.has(voice)),
      ...choices.filter(({ voice }) => failed.has(voice)),
    ]
    this.#current = 0
    this.#failures = 0
  }

  /** Audio of one sentence; throws the last voice's `ParleyError`. Ends at once, without an error, when `signal` aborts. */
  async *render(text: string, speed: number, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    const format = this.#format
    const options = { speed, format, time: this.#time, signal }
    const prepared = this.#hedging.prepared?.(text)
    if (prepared !== undefined) return yield* prepared
    const progress = new Progress(text, format)
    for (;;) {
      const current = this.#current
      const choice = this.#choices[current]!
      const heardBefore = progress.ms
      try {
        for await (const chunk of this.#rendered(progress.rest(), choice, options))
          yield progress.add(chunk, heardBefore)
        if (!signal.aborted && current === this.#current) this.#failures = 0
        return
      } catch (cause) {
        if (signal.aborted) return
        // Another sentence has already replaced the voice: retry with the new one.
        if (current !== this.#current) continue
        const error = voiceError(cause)
        if (!this.#recovers(error, progress.ms > heardBefore)) throw error
      }
    }
  }

  /** The sentence by the first voice that delivers audio: another one is asked as well when the first is late. */
  #rendered(
    text: string,
    choice: VoiceChoice,
    options: { speed: number; format: AudioFormat; time: Time; signal: AbortSignal },
  ): AsyncIterable<SpeechChunk> {
    const { lateAfterMs, onLate } = this.#hedging
    if (lateAfterMs === undefined) return renderSentence(text, choice, options)
    const others = this.#choices.slice(this.#current + 1)
    const attempts = [choice, ...(others.length > 0 ? others : [choice])]
    return hedge<SpeechChunk>({
      start: (number, cause, signal) => {
        const next = attempts[number]
        // A voice that has failed is replaced by `#recovers`.
        return next === undefined || cause === 'failed' ? null : renderSentence(text, next, { ...options, signal })
      },
      lateAfterMs,
      time: options.time,
      signal: options.signal,
      onHedge: number => onLate?.(attempts[number]!),
    })
  }

  #recovers(error: ParleyError, wasHeard: boolean): boolean {
    const hasNext = this.#current + 1 < this.#choices.length
    const asksAgain = ++this.#failures === 1 && error.retryable && !(wasHeard && hasNext)
    if (!asksAgain && hasNext) {
      this.#current++
      this.#failures = 0
    }
    const remedy = asksAgain ? 'asked-again' : hasNext ? 'next-voice' : 'gave-up'
    this.#onFailure({ error, remedy })
    return remedy !== 'gave-up'
  }
}

/** How much of a sentence was synthesised, by all voices together. */
class Progress {
  readonly #tokens: readonly string[]
  readonly #format: AudioFormat
  #words = 0
  /** Words already yielded: the word at the break is spoken again but yielded once. */
  #reported = 0
  /** Token at which the current synthesis began. */
  #from = 0
  ms: Ms = 0

  constructor(text: string, format: AudioFormat) {
    this.#tokens = text.split(/\s+/)
    this.#format = format
  }

  /** The rest of the sentence, from the interrupted word on; all of it if the voice reports no words. */
  rest(): string {
    const wasHeard = this.#words > this.#from
    this.#from = Math.min(wasHeard ? this.#words - 1 : this.#from, this.#tokens.length - 1)
    this.#words = this.#from
    return this.#tokens.slice(this.#from).join(' ')
  }

  /** Counts the chunk and converts its word times to times in the whole sentence. */
  add(chunk: SpeechChunk, heardBefore: Ms): SpeechChunk {
    this.ms += samplesToMs(chunk.samples.length, this.#format)
    const known = Math.max(0, this.#reported - this.#words)
    this.#words += chunk.words.length
    this.#reported = Math.max(this.#reported, this.#words)
    if (heardBefore === 0) return chunk
    const words = chunk.words.slice(known)
    return { ...chunk, words: words.map(word => ({ ...word, startMs: word.startMs + heardBefore })) }
  }
}

/** The error of a voice, or `voice_failed` for any other: that one is a fault of the adapter, which a repetition would meet again. */
export function voiceError(cause: unknown): ParleyError {
  return cause instanceof ParleyError
    ? cause
    : new EngineError('voice_failed', 'speech synthesis failed: see the cause', { cause, retryable: false })
}
