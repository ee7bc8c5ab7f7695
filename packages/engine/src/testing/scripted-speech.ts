import { type Ms, msToSamples, NARROWBAND, type Samples, SeededRandom, samplesToMs, type Time } from '@parley/kernel'
import type {
  HeardWord,
  SpeechChunk,
  SpeechEvent,
  SpeechStream,
  SpeechStreamOptions,
  SpeechToText,
  TextToSpeech,
} from '@parley/providers'
import { ProviderError, type SpeechRequest } from '@parley/providers/testing'
import { fingerprint } from './sounds.ts'

/** Duration of a word, of the caller and of the agent. */
export const WORD_MS: Ms = 300
const AUDIBLE = 300

/** A voice that synthesises each text as noise of its own, with word times; the same text always gives the same audio. */
export class FingerprintVoice implements TextToSpeech {
  readonly id = 'test/fingerprint'
  readonly languages = ['en', 'es']
  readonly synthesized: string[] = []
  /** The language of each request. */
  readonly spokenIn: string[] = []
  /** The temperature of the last request; null: none. */
  temperature: number | null = null
  readonly #pace: { readonly time: Time; readonly wordMs: Ms } | null

  /** With a pace it delivers each word after `wordMs` and ignores its abort signal; default: all words at once. */
  constructor(pace: { readonly time: Time; readonly wordMs: Ms } | null = null) {
    this.#pace = pace
  }

  async readiness(): Promise<null> {
    return null
  }

  async *synthesize(
    { text, language, temperature, onSent }: SpeechRequest,
    signal: AbortSignal,
  ): AsyncIterable<SpeechChunk> {
    this.synthesized.push(text)
    this.spokenIn.push(language)
    this.temperature = temperature ?? null
    onSent?.(text.length)
    for (const [i, word] of text.split(/\s+/).entries()) {
      if (signal.aborted && this.#pace === null) return
      yield { samples: soundOf(word, i), words: [{ text: word, startMs: i * WORD_MS }] }
      await this.#pause()
    }
  }

  async close(): Promise<void> {}

  async #pause(): Promise<void> {
    const pace = this.#pace
    if (pace !== null) await new Promise<void>(resolve => pace.time.at(pace.time.now() + pace.wordMs, resolve))
  }

  /** The audio of `text`. */
  sound(text: string): Int16Array {
    const words = text.split(/\s+/).map(soundOf)
    const all = new Int16Array(words.reduce((sum, word) => sum + word.length, 0))
    let at = 0
    for (const word of words) {
      all.set(word, at)
      at += word.length
    }
    return all
  }
}

function soundOf(word: string, place: number): Int16Array {
  let seed = place + 1
  for (const character of word) seed = (seed * 31 + character.charCodeAt(0)) >>> 0
  return fingerprint(WORD_MS, new SeededRandom(seed))
}

/** A recogniser that delivers the words that the test announces, as late as a service would, if audio was received in their place. */
export class ScriptedRecogniser implements SpeechToText {
  readonly id = 'test/scripted'
  readonly languages = ['en', 'es']
  readonly #time: Time
  readonly #lagMs: Ms
  #listener: (event: SpeechEvent) => void = () => {}
  #words: HeardWord[] = []
  #written: Samples = 0
  /** Positions of chunks with audible sound. */
  readonly #audible: Samples[] = []
  finalizes = 0
  /** Position of the first audio of each stream; null: none was written. */
  readonly opened: (Samples | null)[] = []
  /** Words that the current stream did not deliver; null: it delivers them. */
  #missed: HeardWord[] | null = null
  /** Language and other languages of each stream. */
  readonly streamLanguages: (readonly string[])[] = []
  /** Reported with the words of a final; null: the service detects none. */
  detects: string | null = null
  /** Keywords of the last stream. */
  keywords: readonly string[] = []
  /** Mode and vocabulary of the last stream. */
  recognition: Pick<SpeechStreamOptions, 'mode' | 'vocabulary'> = {}

  /** `lagMs`: from the end of a word to its recognition. */
  constructor(time: Time, lagMs: Ms = 150) {
    this.#time = time
    this.#lagMs = lagMs
  }

  async readiness(): Promise<null> {
    return null
  }

  open(options: SpeechStreamOptions): SpeechStream {
    const index = this.opened.push(null) - 1
    this.streamLanguages.push([options.language, ...(options.otherLanguages ?? [])])
    this.keywords = options.keywords ?? []
    const { mode, vocabulary } = options
    this.recognition = { ...(mode && { mode }), ...(vocabulary && { vocabulary }) }
    this.#deliverMissed()
    return {
      write: (samples, atSample) => {
        this.opened[index] ??= atSample
        this.#written = atSample + samples.length
        options.onSent?.(samplesToMs(samples.length, NARROWBAND))
        if (samples.some(sample => Math.abs(sample) > AUDIBLE)) this.#audible.push(atSample)
      },
      finalize: () => {
        this.finalizes++
        const wait = this.#lagMs
        this.#time.at(this.#time.now() + wait, () => this.#final(true))
      },
      onEvent: listener => {
        this.#listener = listener
      },
      close: () => {
        if (index === this.opened.length - 1) this.#listener = () => {}
      },
    }
  }

  async close(): Promise<void> {}

  /** Reports a retryable error: the connection broke, and the stream repairs it. */
  breaksAndRecovers(): void {
    const error = new ProviderError('recogniser_unreachable', 'the connection was lost', { retryable: true })
    this.#listener({ type: 'error', error })
  }

  /** Reports an error that is not retryable: the stream is dead. */
  breaksForGood(): void {
    this.#words = []
    this.#listener({
      type: 'error',
      error: new ProviderError('recogniser_failed', 'the recogniser broke', { retryable: false }),
    })
  }

  /** The current stream delivers no words any more; the next one finds them in the audio that it gets again. */
  stalls(): void {
    this.#missed = []
  }

  #deliverMissed(): void {
    const words = this.#missed ?? []
    this.#missed = null
    if (words.length === 0) return
    this.#time.at(this.#time.now() + this.#lagMs, () => {
      this.#words.push(...words)
      this.#listener({ type: 'partial', text: textOf(this.#words), words: [...this.#words] })
    })
  }

  /** Announces that the caller begins to say `text` now. */
  willHear(text: string): void {
    const from = this.#written
    for (const [i, word] of text.split(/\s+/).entries()) {
      const startSample = from + msToSamples(i * WORD_MS, NARROWBAND)
      const heard = { text: word, startSample, endSample: startSample + msToSamples(WORD_MS - 20, NARROWBAND) }
      this.#time.at(this.#time.now() + (i + 1) * WORD_MS + this.#lagMs, () => {
        if (!this.#audible.some(at => at >= heard.startSample && at < heard.endSample)) return
        if (this.#missed !== null) return void this.#missed.push(heard)
        this.#words.push(heard)
        this.#listener({ type: 'partial', text: textOf(this.#words), words: [...this.#words] })
      })
    }
  }

  /** Announces that the caller makes a wordless sound of `ms` now. */
  willNotUnderstand(ms: Ms): void {
    const startSample = this.#written
    const endSample = startSample + msToSamples(ms, NARROWBAND)
    if (ms < 250) return
    this.#time.at(this.#time.now() + ms + 300, () => this.#listener({ type: 'unintelligible', startSample, endSample }))
  }

  #final(fromFinalize: boolean): void {
    const words = this.#words
    this.#words = []
    this.#listener({
      type: 'final',
      text: textOf(words),
      words,
      fromFinalize,
      ...(this.detects !== null && { language: this.detects }),
    })
  }
}

function textOf(words: readonly HeardWord[]): string {
  return words.map(word => word.text).join(' ')
}
