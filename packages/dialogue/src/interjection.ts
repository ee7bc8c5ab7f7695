import { foldedPhrases, foldedTokensOf, type Lexicon } from './lexicon/lexicon.ts'
import type { PhraseSet } from './lexicon/phrase-set.ts'

/**
 * The meaning of words said while the agent speaks: `nothing` (no words, or "um"), `acknowledgement` ("uh-huh, okay"),
 * `unclear` (may still become one: "I" of "I see"), `stop` (words that always interrupt), `words` (any others).
 */
export type Interjection = 'nothing' | 'acknowledgement' | 'unclear' | 'stop' | 'words'

/** An acknowledgement has at most this many tokens. */
const MAX_TOKENS = 12

/** Classifies interjections in any of the call's languages, with or without accents. */
export class InterjectionJudge {
  readonly #fillers: PhraseSet
  readonly #backchannels: PhraseSet
  readonly #assents: PhraseSet
  readonly #acceptances: PhraseSet
  readonly #corrections: PhraseSet
  readonly #stops: PhraseSet
  readonly #greetings: PhraseSet

  constructor(lexicons: readonly Lexicon[]) {
    this.#fillers = foldedPhrases(lexicons, 'fillers')
    this.#backchannels = foldedPhrases(lexicons, 'backchannels')
    this.#assents = foldedPhrases(lexicons, 'assents')
    this.#acceptances = foldedPhrases(lexicons, 'acceptances')
    this.#corrections = foldedPhrases(lexicons, 'corrections')
    this.#stops = foldedPhrases(lexicons, 'stops')
    this.#greetings = foldedPhrases(lexicons, 'greetings')
  }

  /** `greetingsToo`: greetings count as acknowledgements, as while the agent greets. */
  judge(words: readonly { readonly text: string }[], greetingsToo = false): Interjection {
    const tokens = words.slice(0, MAX_TOKENS + 1).flatMap(({ text }) => foldedTokensOf(text))
    if (tokens.length > MAX_TOKENS) return 'words'
    let acknowledged = false
    for (let at = 0; at < tokens.length; ) {
      const backchannel = Math.max(
        this.#backchannels.lengthAt(tokens, at),
        greetingsToo ? this.#greetings.lengthAt(tokens, at) : 0,
      )
      if (this.#stops.lengthAt(tokens, at) > 0 && backchannel === 0) return 'stop'
      const length = Math.max(backchannel, this.#fillers.lengthAt(tokens, at))
      if (length === 0) return this.#backchannels.isBeginning(tokens, at) ? 'unclear' : 'words'
      acknowledged ||= backchannel > 0
      at += length
    }
    return acknowledged ? 'acknowledgement' : 'nothing'
  }

  /** Whether an acknowledgement accepts what a question offers before it is asked to its end: "yes, perfect". */
  isAcceptance(words: readonly { readonly text: string }[]): boolean {
    const tokens = words.flatMap(({ text }) => foldedTokensOf(text))
    return tokens.some((_, at) => this.#acceptances.lengthAt(tokens, at) > 0)
  }

  /** Whether the words begin by taking back what was said before them. */
  isCorrection(words: readonly { readonly text: string }[]): boolean {
    const tokens = words.flatMap(({ text }) => foldedTokensOf(text))
    return this.#corrections.lengthAt(tokens, 0) > 0
  }

  /** Whether an acknowledgement also answers a question. */
  isAssent(words: readonly { readonly text: string }[]): boolean {
    const tokens = words.flatMap(({ text }) => foldedTokensOf(text))
    return tokens.some((_, at) => this.#assents.lengthAt(tokens, at) > 0)
  }
}
