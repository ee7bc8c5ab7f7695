import { type AudioFormat, type Ms, msToSamples, type Samples } from '@parley/kernel'
import type { ServiceEvent, ServiceWord } from './service-protocol.ts'
import type { HeardWord, SpeechEvent } from './speech-to-text.ts'

/** Shorter speech without words, such as a cough, is not reported as unintelligible. */
const MIN_UNINTELLIGIBLE_MS: Ms = 250
/** Audio this close to the end of a final word is the rest of that word in a replay. */
const REST_OF_WORD_MS: Ms = 50

type WordsEvent = Extract<ServiceEvent, { type: 'words' }>

/**
 * Turns the events of a recogniser's connections into the events of one stream. No word is reported twice, even when
 * words were made final early or audio was sent again.
 */
export class TranscriptAssembler {
  readonly #emit: (event: SpeechEvent) => void
  /** Of the call's sample clock. */
  readonly #format: AudioFormat
  /** Words since the last final. */
  #open: readonly HeardWord[] = []
  /** Passage of the last words; null on a new connection. */
  #passage: number | null = null
  /** The number of words of that passage that were made final before the service did. */
  #settled: { readonly passage: number; readonly count: number } | null = null
  /** After a replay: words before this position were final already. */
  #knownTo: Samples = Number.NEGATIVE_INFINITY
  #finalTo: Samples = Number.NEGATIVE_INFINITY
  #speechFrom: Samples | null = null

  constructor(format: AudioFormat, emit: (event: SpeechEvent) => void) {
    this.#format = format
    this.#emit = emit
  }

  /** Position before which all words are final. */
  get finalTo(): Samples {
    return this.#finalTo
  }

  /** Whether speech is in progress or words are not final yet. */
  get isOpen(): boolean {
    return this.#open.length > 0 || this.#speechFrom !== null
  }

  speechStarted(at: Samples): void {
    if (this.#speechFrom !== null) return
    this.#speechFrom = at
    this.#emit({ type: 'speech-started', atSample: at })
  }

  /**
   * Adds recognised words; `toClock` converts their times. `answer`: a final answers a finalize request. Returns whether
   * the event contained anything that was not final before.
   */
  words(event: WordsEvent, toClock: (serviceMs: Ms) => Samples, answer: boolean): boolean {
    this.#passage = event.passage
    const placedWords = placed(event, toClock)
    const words = this.#withoutRepeats(placedWords, event.passage)
    const isNew = words.length > 0 || placedWords.length === 0
    // All of its words were final already, so the open words stay open.
    if (!isNew && !answer) return false
    if (words.length > 0) this.speechStarted(words[0]!.startSample)
    if (!event.final) {
      this.#partial(words)
      return isNew
    }
    const until = event.untilMs === null ? words.at(-1)?.endSample : toClock(event.untilMs)
    // Without an end of the passage, the speech ends with the sent audio.
    if (words.length === 0 && event.stopped) this.#endSpeechWithoutWords(until ?? toClock(Number.POSITIVE_INFINITY))
    this.#settled = null
    this.#final(words, answer, event.language)
    this.#finalTo = Math.max(this.#finalTo, until ?? this.#finalTo)
    if (event.stopped) this.#speechFrom = null
    return isNew
  }

  /** Makes the words so far final when the service does not. */
  settle(answer: boolean): void {
    const words = this.#open
    if (words.length > 0 && this.#passage !== null) {
      const before = this.#settled?.passage === this.#passage ? this.#settled.count : 0
      this.#settled = { passage: this.#passage, count: before + words.length }
    }
    this.#final(words, answer)
    // A replay is in progress, and its audio contains these words.
    if (this.#passage === null) this.#knownTo = this.#finalTo
  }

  /** The connection was lost and audio from `resumeAt` on is sent again. Words before it become final, because no replay contains them. */
  interrupted(resumeAt: Samples): void {
    const gone = this.#open.filter(word => word.endSample <= resumeAt)
    const left = this.#open.slice(gone.length)
    if (gone.length > 0) this.#final(gone, false)
    this.#open = left
    this.#passage = null
    this.#settled = null
    this.#knownTo = this.#finalTo
  }

  #partial(words: readonly HeardWord[]): void {
    if (words.length === 0 && this.#open.length === 0) return
    this.#open = words
    this.#emit({ type: 'partial', text: textOf(words), words })
  }

  #final(words: readonly HeardWord[], fromFinalize: boolean, language?: string): void {
    // The service withdrew the words of this passage.
    if (words.length === 0 && !fromFinalize) return this.#partial(words)
    this.#open = []
    if (words.length > 0) {
      this.#speechFrom = null
      this.#finalTo = Math.max(this.#finalTo, words.at(-1)!.endSample)
    }
    this.#emit({
      type: 'final',
      text: textOf(words),
      words,
      fromFinalize,
      ...(language !== undefined && { language }),
    })
  }

  #endSpeechWithoutWords(until: Samples): void {
    const from = this.#speechFrom
    if (from === null || until - from < msToSamples(MIN_UNINTELLIGIBLE_MS, this.#format)) return
    this.#emit({ type: 'unintelligible', startSample: from, endSample: until })
  }

  #withoutRepeats(words: readonly HeardWord[], passage: number): readonly HeardWord[] {
    const settled = this.#settled?.passage === passage ? words.slice(this.#settled.count) : words
    if (this.#knownTo === Number.NEGATIVE_INFINITY) return settled
    const from = this.#knownTo + msToSamples(REST_OF_WORD_MS, this.#format)
    return settled.filter(({ startSample, endSample }) => (startSample + endSample) / 2 >= from)
  }
}

/** The words with times on the call's clock, in order; words without times are spread over the passage. */
function placed({ words, fromMs, untilMs }: WordsEvent, toClock: (serviceMs: Ms) => Samples): HeardWord[] {
  const shareMs = ((untilMs ?? fromMs) - fromMs) / Math.max(1, words.length)
  let last = Number.NEGATIVE_INFINITY
  return words.map((word, i) => {
    const start = toClock(word.startMs ?? fromMs + i * shareMs)
    const startSample = Math.max(start, last)
    last = startSample
    const endSample = Math.max(startSample + 1, toClock(word.endMs ?? fromMs + (i + 1) * shareMs))
    return heard(word, startSample, endSample)
  })
}

function heard({ text, confidence }: ServiceWord, startSample: Samples, endSample: Samples): HeardWord {
  return confidence === undefined
    ? { text, startSample, endSample }
    : { text, startSample, endSample, confidence: Math.min(1, Math.max(0, confidence)) }
}

function textOf(words: readonly HeardWord[]): string {
  return words.map(({ text }) => text).join(' ')
}
