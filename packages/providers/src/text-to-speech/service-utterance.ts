import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs, type Time, type Timer } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { AudioDecoder } from './audio-decoder.ts'
import type { SpeechChunk } from './text-to-speech.ts'
import { WordAlignment } from './word-alignment.ts'

/** How long a service may take. */
export interface VoiceBudgets {
  /** From the request to the first audio, with the connection and waiting for one. Default 5000. */
  readonly firstAudioMs?: Ms
  /** From one piece of audio to the next, or to the end. Default 4000. */
  readonly idleMs?: Ms
}

/** No chunk but the last is shorter, and so much is held back: words that come at the end find a chunk to go with. */
const LEAST_SAMPLES: Samples = msToSamples(10, NARROWBAND)
/** A service that goes on for so long does not speak the text. */
const MOST_SAMPLES: Samples = msToSamples(15 * 60_000, NARROWBAND)
const DEFAULTS: Required<VoiceBudgets> = { firstAudioMs: 5000, idleMs: 4000 }

/**
 * One utterance on its way from a service: bytes and word times go in as they come, chunks come out, within budgets.
 * After `stop` nothing comes out, whatever still goes in.
 */
export class ServiceUtterance {
  readonly #decoder: AudioDecoder
  readonly #words: WordAlignment
  readonly #time: Time
  readonly #budgets: Required<VoiceBudgets>
  readonly #whyLate: () => ProviderFailure | null
  #ready: Int16Array[] = []
  #pending = new Int16Array(0)
  #came: Samples = 0
  #yielded: Samples = 0
  #heardAt: Ms
  #timer: Timer
  #over: 'no' | 'ended' | 'stopped' | ProviderFailure = 'no'
  #wake: (() => void) | null = null

  constructor(options: {
    readonly text: string
    readonly decoder: AudioDecoder
    readonly time: Time
    readonly budgets?: VoiceBudgets
    /** Why audio is late, where somebody knows better than that the service gave none. */
    readonly whyLate?: () => ProviderFailure | null
  }) {
    this.#decoder = options.decoder
    this.#words = new WordAlignment(options.text)
    this.#time = options.time
    this.#budgets = { ...DEFAULTS, ...options.budgets }
    this.#whyLate = options.whyLate ?? (() => null)
    this.#heardAt = this.#time.now()
    this.#timer = this.#watch()
  }

  /** Samples that came so far: where the next audio begins. */
  get samples(): Samples {
    return this.#came
  }

  get isOver(): boolean {
    return this.#over !== 'no'
  }

  audio(bytes: Uint8Array): void {
    if (this.#over !== 'no' || bytes.length === 0) return
    this.#heardAt = this.#time.now()
    const isFirst = this.#came === 0
    this.#take(this.#decoder.decode(bytes))
    if (isFirst && this.#came > 0) {
      this.#timer.cancel()
      this.#timer = this.#watch()
    }
    if (this.#came > MOST_SAMPLES)
      this.fail(new ProviderError('voice_failed', 'The voice does not come to an end.', { retryable: false }))
  }

  /** The service spoke `word` at `startMs` of the utterance. */
  word(word: string, startMs: Ms): void {
    if (this.#over === 'no') this.#words.hear(word, startMs)
  }

  /** All audio came. */
  end(): void {
    if (this.#over !== 'no') return
    this.#take(this.#decoder.end())
    if (this.#came === 0) {
      this.fail(new ProviderError('voice_failed', 'The voice service ended the utterance without audio.'))
      return
    }
    this.#words.end(samplesToMs(this.#came, NARROWBAND))
    if (this.#pending.length > 0) this.#ready.push(this.#pending)
    this.#finish('ended')
  }

  /** What came before is still yielded, then `error` is thrown. */
  fail(error: ProviderFailure): void {
    if (this.#over !== 'no') return
    if (this.#pending.length > 0) this.#ready.push(this.#pending)
    this.#finish(error)
  }

  stop(): void {
    this.#ready = []
    this.#finish('stopped')
  }

  /** To be iterated once. */
  async *chunks(): AsyncGenerator<SpeechChunk, void, undefined> {
    for (;;) {
      const samples = this.#ready.shift()
      if (samples !== undefined) yield this.#chunk(samples)
      else if (this.#over === 'no') await this.#change()
      else if (ProviderError.is(this.#over)) throw this.#over
      else return
    }
  }

  #chunk(samples: Int16Array): SpeechChunk {
    this.#yielded += samples.length
    const isLast = this.#over === 'ended' && this.#ready.length === 0
    return {
      samples,
      words: this.#words.takeBefore(isLast ? Number.POSITIVE_INFINITY : samplesToMs(this.#yielded, NARROWBAND)),
    }
  }

  #take(samples: Int16Array): void {
    if (samples.length === 0) return
    this.#came += samples.length
    const joined = new Int16Array(this.#pending.length + samples.length)
    joined.set(this.#pending)
    joined.set(samples, this.#pending.length)
    const out = joined.length - LEAST_SAMPLES
    if (out < LEAST_SAMPLES) {
      this.#pending = joined
      return
    }
    // Copies: a consumer may hand a chunk's buffer on to another thread.
    this.#ready.push(joined.slice(0, out))
    this.#pending = joined.slice(out)
    this.#rouse()
  }

  #finish(how: 'ended' | 'stopped' | ProviderFailure): void {
    this.#over = how
    this.#timer.cancel()
    this.#pending = new Int16Array(0)
    this.#rouse()
  }

  #change(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  #rouse(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  /** One timer that looks when it fires: audio comes far more often than it is late. */
  #watch(): Timer {
    const [patience, what] =
      this.#came === 0 ? [this.#budgets.firstAudioMs, 'no audio'] : [this.#budgets.idleMs, 'nothing more']
    const came = this.#came
    return this.#time.at(this.#heardAt + patience, () => {
      if (this.#came > came) this.#timer = this.#watch()
      else this.fail(this.#whyLate() ?? late(what, patience))
    })
  }
}

function late(what: string, patience: Ms): ProviderFailure {
  return new ProviderError('voice_failed', `The voice gave ${what} for ${patience} ms.`)
}
