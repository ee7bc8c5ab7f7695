import type { Ms } from '@parley/kernel'
import { foldedTokensOf } from './lexicon/lexicon.ts'
import type { SpokenWord } from './protocol.ts'

/** Word times of one recogniser differ by so much between its partials and its final. */
const JITTER_MS: Ms = 60
/** The same word may move by more than that when its neighbours are revised. */
const SHIFT_MS: Ms = 200
/** Words that follow an acknowledgement within this make one turn with it. */
const ASIDE_JOINS_WITHIN_MS: Ms = 1500

/**
 * The caller's words that are in no turn yet: finals, then the current partial. A word that went into a turn while it
 * was only partial is recognised again in its final, by its text and place or, revised, by its time.
 */
export class HeardWords {
  #final: SpokenWord[] = []
  /** Words of the current partial. */
  #partial: readonly SpokenWord[] = []
  /** Words that a turn took from a partial whose final is still to come. */
  #given: readonly SpokenWord[] = []
  /** End of the acknowledgement that the first words are, which needs no answer; null: they are none. */
  #asideUntil: Ms | null = null
  #asideText = ''

  /** Returns whether there is a word in it that was not given away. */
  hearPartial(words: readonly SpokenWord[]): boolean {
    this.#partial = this.#unknown(words)
    this.#endAside()
    return this.#partial.length > 0
  }

  /** Returns whether there is a word in it that was not given away. */
  hearFinal(words: readonly SpokenWord[]): boolean {
    const unknown = this.#unknown(words)
    this.#final = this.#final.concat(unknown)
    this.#partial = []
    const last = words.at(-1)
    if (last !== undefined) this.#given = this.#given.filter(word => isAfter(word, last.endMs))
    this.#endAside()
    return unknown.length > 0
  }

  /** All words, acknowledgements included. */
  get all(): readonly SpokenWord[] {
    return this.#partial.length === 0 ? this.#final : [...this.#final, ...this.#partial]
  }

  /** How many words need an answer. */
  get count(): number {
    return this.#asideUntil === null ? this.#final.length + this.#partial.length : 0
  }

  get hasPartial(): boolean {
    return this.#partial.length > 0
  }

  /** End of the last word; null without words. */
  get lastEndMs(): Ms | null {
    return (this.#partial.at(-1) ?? this.#final.at(-1))?.endMs ?? null
  }

  get lastFinalEndMs(): Ms | null {
    return this.#final.at(-1)?.endMs ?? null
  }

  /** Moves all words into a turn. */
  take(): readonly SpokenWord[] {
    const words = this.all
    if (this.#partial.length > 0) this.#given = [...this.#given, ...this.#partial]
    this.#final = []
    this.#partial = []
    this.#asideUntil = null
    return words
  }

  /** The words up to now were an acknowledgement: no turn, unless the caller goes on. */
  setAside(): void {
    this.#asideUntil = this.lastEndMs
    this.#asideText = this.#text
  }

  /** Whether the recogniser revised the acknowledgement. */
  get isAsideRevised(): boolean {
    return this.#asideUntil !== null && this.#asideText !== this.#text
  }

  /** They count after all. */
  readmit(): void {
    this.#asideUntil = null
  }

  /** End of the acknowledgement; null: there is none. */
  get asideUntilMs(): Ms | null {
    return this.#asideUntil
  }

  get #text(): string {
    return this.all.flatMap(({ text }) => foldedTokensOf(text)).join(' ')
  }

  /** The caller went on after what was set aside: one turn with it, or so much later that it is forgotten. */
  #endAside(): void {
    const until = this.#asideUntil
    if (until === null) return
    const next = this.all.findIndex(word => isAfter(word, until))
    if (next === -1) return
    this.#asideUntil = null
    if (this.all[next]!.startMs - until <= ASIDE_JOINS_WITHIN_MS) return
    const forgotten = next
    const fromPartial = Math.max(0, forgotten - this.#final.length)
    this.#given = [...this.#given, ...this.#partial.slice(0, fromPartial)]
    this.#partial = this.#partial.slice(fromPartial)
    this.#final = this.#final.slice(forgotten)
  }

  /** Words of a partial or final that are in no turn yet. */
  #unknown(words: readonly SpokenWord[]): readonly SpokenWord[] {
    const given = this.#given
    if (given.length === 0) return words
    let same = 0
    while (same < given.length && same < words.length && isSame(given[same]!, words[same]!)) same++
    if (same === given.length) return words.slice(same)
    const until = given.at(-1)!.endMs
    const first = words.findIndex(word => isAfter(word, until))
    return first === -1 ? [] : words.slice(first)
  }
}

/** Whether the word comes after `until`, within the accuracy of word times. */
function isAfter({ startMs, endMs }: SpokenWord, until: Ms): boolean {
  return startMs >= until - Math.min(JITTER_MS, (endMs - startMs) / 2)
}

function isSame(given: SpokenWord, word: SpokenWord): boolean {
  if (word.startMs >= given.endMs + SHIFT_MS) return false
  return given.text === word.text || foldedTokensOf(given.text).join() === foldedTokensOf(word.text).join()
}

/** Sanitised words: none blank, none that ends in the future or before it begins. Valid words are not copied. */
export function wordsUntil(now: Ms, words: readonly SpokenWord[]): readonly SpokenWord[] {
  if (words.every(word => isPlausible(now, word))) return words
  return words.flatMap(word => {
    if (word.text.trim() === '') return []
    const endMs = Number.isFinite(word.endMs) ? Math.min(word.endMs, now) : now
    return { text: word.text, startMs: Number.isFinite(word.startMs) ? Math.min(word.startMs, endMs) : endMs, endMs }
  })
}

function isPlausible(now: Ms, { text, startMs, endMs }: SpokenWord): boolean {
  return startMs <= endMs && endMs <= now && startMs > Number.NEGATIVE_INFINITY && text.trim() !== ''
}
