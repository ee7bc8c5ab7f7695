import { type Ms, msToSamples, type Samples, samplesToMs, type Time, type Timer } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { AudioDecoder } from './audio-decoder.ts'
import type { SpeechChunk } from './text-to-speech.ts'
import { WordAlignment } from './word-alignment.ts'

/** Time limits of an utterance. */
export interface VoiceBudgets {
  /** From the request to the first audio, including the wait for a connection. Default 5000. */
  readonly firstAudioMs?: Ms
  /** From one piece of audio to the next, or to the end. Default 4000. */
  readonly idleMs?: Ms
}

/** Shortest chunk except the last. The same length is held back, so that word times that arrive at the end have a chunk to go with. */
const MIN_CHUNK_MS: Ms = 10
/** An utterance that is longer than this is not the text that was requested. */
const MAX_MS: Ms = 15 * 60_000
const DEFAULTS: Required<VoiceBudgets> = { firstAudioMs: 5000, idleMs: 4000 }

/**
 * One utterance of a service: takes bytes and word times as they arrive and yields chunks, within time limits. After
 * `stop` it yields nothing, and ignores all input.
 */
export class ServiceUtterance {
  readonly #decoder: AudioDecoder
  readonly #minChunk: Samples
  readonly #words: WordAlignment
  readonly #time: Time
  readonly #budgets: Required<VoiceBudgets>
  readonly #whyLate: () => ProviderFailure | null
  #ready: Int16Array[] = []
  #pending = new Int16Array(0)
  #received: Samples = 0
  #yielded: Samples = 0
  #lastAudioAt: Ms
  #timer: Timer
  #state: 'running' | 'ended' | 'stopped' | ProviderFailure = 'running'
  #wake: (() => void) | null = null

  constructor(options: {
    readonly text: string
    readonly decoder: AudioDecoder
    readonly time: Time
    readonly budgets?: VoiceBudgets
    /** A more precise error for late audio; null: the service is late. */
    readonly whyLate?: () => ProviderFailure | null
  }) {
    this.#decoder = options.decoder
    this.#minChunk = msToSamples(MIN_CHUNK_MS, options.decoder.format)
    this.#words = new WordAlignment(options.text)
    this.#time = options.time
    this.#budgets = { ...DEFAULTS, ...options.budgets }
    this.#whyLate = options.whyLate ?? (() => null)
    this.#lastAudioAt = this.#time.now()
    this.#timer = this.#watch()
  }

  /** Samples received so far, which is the position of the next audio. */
  get samples(): Samples {
    return this.#received
  }

  get isOver(): boolean {
    return this.#state !== 'running'
  }

  audio(bytes: Uint8Array): void {
    if (this.#state !== 'running' || bytes.length === 0) return
    this.#lastAudioAt = this.#time.now()
    const isFirst = this.#received === 0
    this.#append(this.#decoder.decode(bytes))
    if (isFirst && this.#received > 0) {
      this.#timer.cancel()
      this.#timer = this.#watch()
    }
    if (this.#ms(this.#received) > MAX_MS)
      this.fail(new ProviderError('voice_failed', 'The voice does not come to an end.', { retryable: false }))
  }

  /** The service spoke `word` at `startMs` of the utterance. */
  word(word: string, startMs: Ms): void {
    if (this.#state === 'running') this.#words.add(word, startMs)
  }

  /** The service has sent all audio. */
  end(): void {
    if (this.#state !== 'running') return
    this.#append(this.#decoder.end())
    if (this.#received === 0) {
      this.fail(new ProviderError('voice_failed', 'The voice service ended the utterance without audio.'))
      return
    }
    this.#words.end(this.#ms(this.#received))
    if (this.#pending.length > 0) this.#ready.push(this.#pending)
    this.#finish('ended')
  }

  /** `chunks` yields the audio received before, and then throws `error`. */
  fail(error: ProviderFailure): void {
    if (this.#state !== 'running') return
    if (this.#pending.length > 0) this.#ready.push(this.#pending)
    this.#finish(error)
  }

  stop(): void {
    this.#ready = []
    this.#finish('stopped')
  }

  /** Iterate once. */
  async *chunks(): AsyncGenerator<SpeechChunk, void, undefined> {
    for (;;) {
      const samples = this.#ready.shift()
      if (samples !== undefined) yield this.#chunk(samples)
      else if (this.#state === 'running') await this.#nextChange()
      else if (ProviderError.is(this.#state)) throw this.#state
      else return
    }
  }

  #chunk(samples: Int16Array): SpeechChunk {
    this.#yielded += samples.length
    const isLast = this.#state === 'ended' && this.#ready.length === 0
    return {
      samples,
      words: this.#words.takeBefore(isLast ? Number.POSITIVE_INFINITY : this.#ms(this.#yielded)),
    }
  }

  #append(samples: Int16Array): void {
    if (samples.length === 0) return
    this.#received += samples.length
    const joined = new Int16Array(this.#pending.length + samples.length)
    joined.set(this.#pending)
    joined.set(samples, this.#pending.length)
    const out = joined.length - this.#minChunk
    if (out < this.#minChunk) {
      this.#pending = joined
      return
    }
    // Copies: a consumer may hand a chunk's buffer on to another thread.
    this.#ready.push(joined.slice(0, out))
    this.#pending = joined.slice(out)
    this.#wakeReader()
  }

  #finish(how: 'ended' | 'stopped' | ProviderFailure): void {
    this.#state = how
    this.#timer.cancel()
    this.#pending = new Int16Array(0)
    this.#wakeReader()
  }

  #ms(samples: Samples): Ms {
    return samplesToMs(samples, this.#decoder.format)
  }

  #nextChange(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  #wakeReader(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  /** One timer that checks for audio when it fires: resetting it with every piece of audio would cost more. */
  #watch(): Timer {
    const [limitMs, what] =
      this.#received === 0 ? [this.#budgets.firstAudioMs, 'no audio'] : [this.#budgets.idleMs, 'no further audio']
    const received = this.#received
    return this.#time.at(this.#lastAudioAt + limitMs, () => {
      if (this.#received > received) this.#timer = this.#watch()
      else this.fail(this.#whyLate() ?? lateError(what, limitMs))
    })
  }
}

function lateError(what: string, limitMs: Ms): ProviderFailure {
  return new ProviderError('voice_failed', `The voice sent ${what} for ${limitMs} ms.`)
}
