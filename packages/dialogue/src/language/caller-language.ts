import { type KnownLanguage, languageWords } from './language-words.ts'
import { requestedLanguage } from './requested-language.ts'

/** Why a conversation changes its language: the caller asked for it, spoke it, or the recogniser detected it. */
export type LanguageCause = 'requested' | 'words' | 'recogniser'

interface LanguageChange {
  readonly language: KnownLanguage
  readonly cause: LanguageCause
}

/** Words of the other language that change the language at once. */
const SURE_WORDS = 2
/** Words in a turn from which the recogniser's detection is enough. */
const DETECTED_WORDS = 3
/** Turns in a row that say little, all of it in the other language. */
const HINTS = 2

/**
 * The language that the caller speaks, one of the agent's. It changes at once when the caller asks for another one or clearly
 * speaks it, and after two turns in a row of a few words in it. Names of people and places change nothing.
 */
export class CallerLanguage {
  readonly #languages: readonly KnownLanguage[]
  #current: KnownLanguage
  #hints = 0

  /** `languages`: those that the agent speaks, at least one; the first is spoken at the beginning. */
  constructor(languages: readonly KnownLanguage[]) {
    this.#languages = languages
    this.#current = languages[0]!
  }

  get current(): KnownLanguage {
    return this.#current
  }

  /** The conversation began in another language. */
  get hasChanged(): boolean {
    return this.#current !== this.#languages[0]
  }

  /** The change that a turn with these words causes. `detected`: BCP 47 tag by the recogniser. */
  turn(text: string, detected: string | null): LanguageChange | null {
    if (this.#languages.length < 2) return null
    const change = this.#requested(text) ?? this.#spoken(text, detected)
    if (change === null) return null
    this.#current = change.language
    this.#hints = 0
    return change
  }

  #requested(text: string): LanguageChange | null {
    const language = requestedLanguage(text)
    if (language === null || language === this.#current || !this.#languages.includes(language)) return null
    return { language, cause: 'requested' }
  }

  #spoken(text: string, detected: string | null): LanguageChange | null {
    const other = this.#languages.find(language => language !== this.#current)!
    const words = languageWords(text)
    if (words.all === 0) return null
    const own = words[this.#current]
    const isDetected = detected !== null && detected.toLowerCase().split('-')[0] === other
    if (isDetected && words.all >= DETECTED_WORDS && own <= words[other])
      return { language: other, cause: 'recogniser' }
    if (words[other] >= SURE_WORDS && words[other] > 2 * own) return { language: other, cause: 'words' }
    const isHint = own === 0 && (isDetected || words[other] === words.all)
    if (own > 0) this.#hints = 0
    if (!isHint || ++this.#hints < HINTS) return null
    return { language: other, cause: isDetected ? 'recogniser' : 'words' }
  }
}
