import { msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import type { ServiceEvent, ServiceWord } from './service-protocol.ts'
import type { HeardWord, SpeechEvent } from './speech-to-text.ts'

/** A cough is no speech that wants to be understood. */
const LEAST_SPEECH: Samples = msToSamples(250, NARROWBAND)
/** What lies around the end of a word that is final is the rest of it, heard again. */
const REST_OF_WORD: Samples = msToSamples(50, NARROWBAND)

type WordsNews = Extract<ServiceEvent, { type: 'words' }>

/**
 * What is understood of a call so far: makes the events of a stream out of what the connections tell, so that no word is
 * said twice when an answer was given early or audio was sent again.
 */
export class TranscriptAssembler {
  readonly #emit: (event: SpeechEvent) => void
  /** SideEffects since the last final. */
  #open: readonly HeardWord[] = []
  /** Passage of the last words; null on a new connection. */
  #passage: number | null = null
  /** So many words of that passage were made final before the service did. */
  #settled: { readonly passage: number; readonly count: number } | null = null
  /** Of a connection that was sent audio again: words before this were final already. */
  #knownTo: Samples = Number.NEGATIVE_INFINITY
  #finalTo: Samples = Number.NEGATIVE_INFINITY
  #speechFrom: Samples | null = null

  constructor(emit: (event: SpeechEvent) => void) {
    this.#emit = emit
  }

  /** Until here all words are final. */
  get finalTo(): Samples {
    return this.#finalTo
  }

  /** Somebody speaks, or words are not final yet. */
  get isOpen(): boolean {
    return this.#open.length > 0 || this.#speechFrom !== null
  }

  speechStarted(at: Samples): void {
    if (this.#speechFrom !== null) return
    this.#speechFrom = at
    this.#emit({ type: 'speech-started', atSample: at })
  }

  /**
   * Takes what a service understood; `toClock` places its times. `answer`: a final of it answers `finalize`. Returns
   * whether there was anything in it that was not final before.
   */
  words(news: WordsNews, toClock: (stream: Samples) => Samples, answer: boolean): boolean {
    this.#passage = news.passage
    const told = placed(news, toClock)
    const words = this.#noSideEffects(told, news.passage)
    const isNew = words.length > 0 || told.length === 0
    // Known already, all of it: what is open since then stays so.
    if (!isNew && !answer) return false
    if (words.length > 0) this.speechStarted(words[0]!.startSample)
    if (!news.final) {
      this.#say(words)
      return isNew
    }
    const until = news.until === null ? words.at(-1)?.endSample : toClock(news.until)
    // A service that does not say how far it has heard: all that it was sent.
    if (words.length === 0 && news.stopped) this.#endSpeechWithoutWords(until ?? toClock(Number.POSITIVE_INFINITY))
    this.#settled = null
    this.#final(words, answer)
    this.#finalTo = Math.max(this.#finalTo, until ?? this.#finalTo)
    if (news.stopped) this.#speechFrom = null
    return isNew
  }

  /** Makes final what is known, for lack of a better answer. */
  settle(answer: boolean): void {
    const words = this.#open
    if (words.length > 0 && this.#passage !== null) {
      const before = this.#settled?.passage === this.#passage ? this.#settled.count : 0
      this.#settled = { passage: this.#passage, count: before + words.length }
    }
    this.#final(words, answer)
    // Audio is being sent again, and these words are in it.
    if (this.#passage === null) this.#knownTo = this.#finalTo
  }

  /** The connection was lost; audio from `resumeAt` on is sent again. Words that lie before it will not be heard again. */
  interrupted(resumeAt: Samples): void {
    const gone = this.#open.filter(word => word.endSample <= resumeAt)
    const left = this.#open.slice(gone.length)
    if (gone.length > 0) this.#final(gone, false)
    this.#open = left
    this.#passage = null
    this.#settled = null
    this.#knownTo = this.#finalTo
  }

  #say(words: readonly HeardWord[]): void {
    if (words.length === 0 && this.#open.length === 0) return
    this.#open = words
    this.#emit({ type: 'partial', text: textOf(words), words })
  }

  #final(words: readonly HeardWord[], fromFinalize: boolean): void {
    // What was said of this passage and is taken back.
    if (words.length === 0 && !fromFinalize) return this.#say(words)
    this.#open = []
    if (words.length > 0) {
      this.#speechFrom = null
      this.#finalTo = Math.max(this.#finalTo, words.at(-1)!.endSample)
    }
    this.#emit({ type: 'final', text: textOf(words), words, fromFinalize })
  }

  #endSpeechWithoutWords(until: Samples): void {
    const from = this.#speechFrom
    if (from === null || until - from < LEAST_SPEECH) return
    this.#emit({ type: 'unintelligible', startSample: from, endSample: until })
  }

  #noSideEffects(words: readonly HeardWord[], passage: number): readonly HeardWord[] {
    const settled = this.#settled?.passage === passage ? words.slice(this.#settled.count) : words
    if (this.#knownTo === Number.NEGATIVE_INFINITY) return settled
    return settled.filter(({ startSample, endSample }) => (startSample + endSample) / 2 >= this.#knownTo + REST_OF_WORD)
  }
}

/** The words on the call's clock, in order; those without times are spread over what the passage covers. */
function placed({ words, from, until }: WordsNews, toClock: (stream: Samples) => Samples): HeardWord[] {
  const share = ((until ?? from) - from) / Math.max(1, words.length)
  let last = Number.NEGATIVE_INFINITY
  return words.map((word, i) => {
    const start = toClock(word.start ?? from + i * share)
    const startSample = Math.max(start, last)
    last = startSample
    const endSample = Math.max(startSample + 1, toClock(word.end ?? from + (i + 1) * share))
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
