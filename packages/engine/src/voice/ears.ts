import type { DialogueInput, SpokenWord } from '@parley/dialogue'
import { type Ms, ParleyError, type Samples, type Time } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import { VoiceActivity } from '@parley/media'
import type { HeardWord, SpeechEvent, SpeechFilter, SpeechStream, SpeechToText } from '@parley/providers'
import type { CallClock } from './call-clock.ts'

/** 40 ms; what is read at once. */
const BLOCK: Samples = 320
/** Quiet that ends a stretch of speech; how long a turn waits after it is the turn machine's business. */
const HANGOVER_MS = 80

export interface EarsOptions {
  readonly leg: Pick<CallLeg, 'readHeard' | 'heardPosition'>
  readonly recogniser: SpeechToText
  readonly language: string
  readonly keywords: readonly string[]
  readonly clock: CallClock
  readonly time: Time
  readonly onHeard: (input: DialogueInput) => void
  readonly onFailure: (error: ParleyError) => void
}

/** Hears the caller: audio from the leg to the recogniser as it came, and to voice activity as speech alone. */
export class Ears {
  readonly #options: EarsOptions
  readonly #stream: SpeechStream
  readonly #filter: SpeechFilter | null
  readonly #voice = new VoiceActivity({ hangoverMs: HANGOVER_MS })
  readonly #audio = new Int16Array(BLOCK)
  readonly #speech = new Int16Array(BLOCK)
  #next: Samples = -1
  #closed = false

  /** Throws what the recogniser's `open` throws. */
  constructor(options: EarsOptions) {
    this.#options = options
    this.#filter = options.recogniser.speechFilter?.() ?? null
    this.#stream = options.recogniser.open({
      language: options.language,
      keywords: options.keywords,
      sampleRate: 8000,
    })
    this.#stream.onEvent(event => this.#onSpeech(event))
  }

  /** Hears what has come since the last time. */
  drain(): void {
    const { leg, clock, time } = this.#options
    for (let count = BLOCK; count === BLOCK && !this.#closed; ) {
      count = leg.readHeard(this.#audio)
      if (count === 0) return
      // Known only now: a reader that came late was moved ahead.
      const from = leg.heardPosition() - count
      clock.observe(time.now(), from + count)
      if (this.#next >= 0 && from !== this.#next) this.#filter?.reset()
      this.#next = from + count
      this.#hear(from, count)
    }
  }

  /** Asks the recogniser for what it holds back. */
  finalize(): void {
    if (!this.#closed) this.#stream.finalize()
  }

  close(): void {
    this.#closed = true
    this.#stream.close()
  }

  #hear(position: Samples, count: Samples): void {
    let speech = this.#audio
    let at = position
    if (this.#filter !== null) {
      this.#filter.filter(this.#audio, 0, count, this.#speech, 0)
      speech = this.#speech
      at = position - this.#filter.delay
    }
    this.#voice.push(at, speech, 0, count)
    for (let edge = this.#voice.take(); edge !== null; edge = this.#voice.take()) {
      const time = this.#options.clock.timeOf(this.#voice.position)
      if (edge === 'speech-start') this.#options.onHeard({ type: 'voice-started', startedAt: time })
      else this.#options.onHeard({ type: 'voice-stopped', stoppedAt: time })
    }
    this.#stream.write(this.#audio.subarray(0, count), position)
  }

  #onSpeech(event: SpeechEvent): void {
    if (this.#closed) return
    const { onHeard, onFailure, clock } = this.#options
    switch (event.type) {
      case 'speech-started':
        return
      case 'partial':
        return onHeard({ type: 'partial', text: event.text, words: this.#words(event.words) })
      case 'final':
        return onHeard({
          type: 'final',
          text: event.text,
          words: this.#words(event.words),
          fromFinalize: event.fromFinalize,
        })
      case 'unintelligible':
        return onHeard({
          type: 'unintelligible',
          startMs: clock.timeOf(event.startSample),
          endMs: clock.timeOf(event.endSample),
        })
      case 'end-of-turn':
        return onHeard({ type: 'end-of-turn', confidence: event.confidence, eager: event.eager })
      case 'turn-resumed':
        return onHeard({ type: 'turn-resumed' })
      case 'error':
        if (event.error.retryable) return
        return onFailure(
          event.error instanceof ParleyError ? event.error : new ParleyError('recogniser_failed', String(event.error)),
        )
    }
  }

  #words(words: readonly HeardWord[]): SpokenWord[] {
    const { clock } = this.#options
    const at = (sample: Samples): Ms => clock.timeOf(sample)
    return words.map(word => ({ text: word.text, startMs: at(word.startSample), endMs: at(word.endSample) }))
  }
}
