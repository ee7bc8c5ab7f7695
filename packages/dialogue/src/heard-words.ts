import type { Ms } from '@parley/kernel'
import { foldedTokensOf } from './lexicon/lexicon.ts'
import type { SpokenWord } from './protocol.ts'

/** Word times differ by up to this between the partials and the final of one recogniser. */
const JITTER_MS: Ms = 60
/** A word may move by up to this when its neighbours are revised. */
const SHIFT_MS: Ms = 200
/** Words that follow an acknowledgement within this time belong to one turn with it. */
const JOINS_WITHIN_MS: Ms = 1500

/**
 * The caller's words that are in no turn yet: finals, then the current partial. A word that a turn took from a partial is
 * identified in the later final by its text and position or, if revised, by its time.
 */
export class HeardWords {
  #final: SpokenWord[] = []
  /** Words of the current partial. */
  #partial: readonly SpokenWord[] = []
  /** Words that a turn took from a partial whose final has not arrived. */
  #taken: readonly SpokenWord[] = []
  /** End of the acknowledgement at the beginning of the words, which needs no answer; null: there is none. */
  #acknowledgedUntil: Ms | null = null
  #acknowledgedText = ''
  /** Words that begin up to here belong to no turn: digits answered the question that they were said to. */
  #asideUntil: Ms = Number.NEGATIVE_INFINITY
  /** Such words of finals that were not yet returned, and the end of the last one that was. */
  #aside: SpokenWord[] = []
  #asideReturnedUntil: Ms = Number.NEGATIVE_INFINITY

  /** Returns whether it has a word that is in no turn yet. */
  addPartial(words: readonly SpokenWord[]): boolean {
    this.#partial = this.#newWords(words)
    this.#endAcknowledgement()
    return this.#partial.length > 0
  }

  /** Returns whether it has a word that is in no turn yet. */
  addFinal(words: readonly SpokenWord[]): boolean {
    this.#aside.push(
      ...words.filter(word => this.#isAside(word) && isAfter(word, this.#asideReturnedUntil) && !this.#isTaken(word)),
    )
    const added = this.#newWords(words)
    this.#final = this.#final.concat(added)
    this.#partial = []
    const last = words.at(-1)
    if (last !== undefined) this.#taken = this.#taken.filter(word => isAfter(word, last.endMs))
    this.#endAcknowledgement()
    return added.length > 0
  }

  /** All words, acknowledgements included. */
  get all(): readonly SpokenWord[] {
    return this.#partial.length === 0 ? this.#final : [...this.#final, ...this.#partial]
  }

  /** Number of words that need an answer. */
  get count(): number {
    return this.#acknowledgedUntil === null ? this.#final.length + this.#partial.length : 0
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
    if (this.#partial.length > 0) this.#taken = [...this.#taken, ...this.#partial]
    this.#final = []
    this.#partial = []
    this.#acknowledgedUntil = null
    return words
  }

  /** Takes all words out of the next turn, and those that the recogniser still delivers from before `until`. */
  setAside(until: Ms): readonly SpokenWord[] {
    this.#asideUntil = until
    const words = this.take()
    this.#asideReturnedUntil = words.at(-1)?.endMs ?? this.#asideReturnedUntil
    return words
  }

  /** Words that begin up to `until` are set aside as well, once they arrive. */
  extendAside(until: Ms): void {
    this.#asideUntil = until
  }

  /** Words that arrived in finals after they were set aside; each is returned once. */
  takeAside(): readonly SpokenWord[] {
    const words = this.#aside.splice(0)
    this.#asideReturnedUntil = words.at(-1)?.endMs ?? this.#asideReturnedUntil
    return words
  }

  /** The words so far are an acknowledgement: they become no turn unless the caller goes on. */
  markAcknowledgement(): void {
    this.#acknowledgedUntil = this.lastEndMs
    this.#acknowledgedText = this.#text
  }

  /** Whether the recogniser revised the acknowledgement. */
  get isAcknowledgementRevised(): boolean {
    return this.#acknowledgedUntil !== null && this.#acknowledgedText !== this.#text
  }

  /** The words are not an acknowledgement after all. */
  unmarkAcknowledgement(): void {
    this.#acknowledgedUntil = null
  }

  /** End of the acknowledgement; null: there is none. */
  get acknowledgedUntilMs(): Ms | null {
    return this.#acknowledgedUntil
  }

  get #text(): string {
    return this.all.flatMap(({ text }) => foldedTokensOf(text)).join(' ')
  }

  /** The caller went on after an acknowledgement: it joins the turn, or is dropped if the pause was long. */
  #endAcknowledgement(): void {
    const until = this.#acknowledgedUntil
    if (until === null) return
    const next = this.all.findIndex(word => isAfter(word, until))
    if (next === -1) return
    this.#acknowledgedUntil = null
    if (this.all[next]!.startMs - until <= JOINS_WITHIN_MS) return
    const fromPartial = Math.max(0, next - this.#final.length)
    this.#taken = [...this.#taken, ...this.#partial.slice(0, fromPartial)]
    this.#partial = this.#partial.slice(fromPartial)
    this.#final = this.#final.slice(next)
  }

  /** Words of a partial or final that are in no turn yet. */
  #newWords(all: readonly SpokenWord[]): readonly SpokenWord[] {
    const words = all.some(word => this.#isAside(word)) ? all.filter(word => !this.#isAside(word)) : all
    const taken = this.#taken
    if (taken.length === 0) return words
    let same = 0
    while (same < taken.length && same < words.length && isSame(taken[same]!, words[same]!)) same++
    if (same === taken.length) return words.slice(same)
    const until = taken.at(-1)!.endMs
    const first = words.findIndex(word => isAfter(word, until))
    return first === -1 ? [] : words.slice(first)
  }

  #isAside({ startMs }: SpokenWord): boolean {
    return startMs <= this.#asideUntil
  }

  /** Whether a turn took the word from a partial. */
  #isTaken(word: SpokenWord): boolean {
    return this.#taken.some(taken => isSame(taken, word))
  }
}

/** Whether the word comes after `until`, within the accuracy of word times. */
function isAfter({ startMs, endMs }: SpokenWord, until: Ms): boolean {
  return startMs >= until - Math.min(JITTER_MS, (endMs - startMs) / 2)
}

function isSame(taken: SpokenWord, word: SpokenWord): boolean {
  if (word.startMs >= taken.endMs + SHIFT_MS) return false
  return taken.text === word.text || foldedTokensOf(taken.text).join() === foldedTokensOf(word.text).join()
}

/** Drops blank words and corrects times in the future or in the wrong order. Valid words are not copied. */
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
