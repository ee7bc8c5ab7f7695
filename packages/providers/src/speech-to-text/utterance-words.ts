import type { Ms } from '@parley/kernel'
import { primaryTag } from '../text-to-speech/request.ts'
import type { ServiceEvent, ServiceWord } from './service-protocol.ts'

/** Words without an end of the utterance become final at this number. */
const MAX_WORDS = 200
/** Limit of the length of a word. */
const MAX_WORD_LENGTH = 200

/**
 * Joins the words of an utterance from a service that sends each final word once: an event has all words of the
 * utterance so far.
 */
export class UtteranceWords {
  #passage = 0
  #words: ServiceWord[] = []
  #isOpen = false
  /** Words of the utterance in each language that the service detected. */
  readonly #languages = new Map<string, number>()

  /** Whether words were reported since the last end. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** A word of the utterance is in this language; "": the service does not say. */
  inLanguage(tag: string): void {
    const language = primaryTag(tag)
    if (language !== '') this.#languages.set(language, (this.#languages.get(language) ?? 0) + 1)
  }

  /** `final`: new words that will not change. `open`: all words after them, which may. */
  heard(final: readonly ServiceWord[], open: readonly ServiceWord[]): ServiceEvent[] {
    this.#words.push(...final.map(bounded))
    const words = [...this.#words, ...open.slice(0, MAX_WORDS).map(bounded)]
    if (words.length === 0 && !this.#isOpen) return []
    this.#isOpen = true
    if (open.length === 0 && this.#words.length >= MAX_WORDS) return [this.#finalWords(null, false)]
    return [this.#event(words, false, null, false)]
  }

  /** The end of the utterance. `forced`: because of a finalize request; null: the service does not say. */
  ended(forced: boolean | null): ServiceEvent {
    return this.#finalWords(forced, true)
  }

  #finalWords(forced: boolean | null, stopped: boolean): ServiceEvent {
    const [language] = [...this.#languages].sort(([, one], [, other]) => other - one)[0] ?? []
    const event = { ...this.#event(this.#words, true, forced, stopped), ...(language !== undefined && { language }) }
    this.#languages.clear()
    this.#words = []
    this.#isOpen = false
    this.#passage++
    return event
  }

  #event(words: readonly ServiceWord[], final: boolean, forced: boolean | null, stopped: boolean): ServiceEvent {
    const fromMs: Ms = words[0]?.startMs ?? 0
    return { type: 'words', passage: this.#passage, words, fromMs, untilMs: null, final, forced, stopped }
  }
}

function bounded(word: ServiceWord): ServiceWord {
  return { ...word, text: word.text.slice(0, MAX_WORD_LENGTH) }
}
