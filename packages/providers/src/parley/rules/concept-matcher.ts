import type { Concept, Lexicon } from './lexicon.ts'
import type { Word } from './words.ts'

interface Entry {
  readonly concept: Concept
  readonly words: readonly string[]
}

/** Finds the phrases that express a concept. `side` 0 takes the phrases of conditions, 1 those of turns. */
export class ConceptMatcher {
  readonly #byFirst = new Map<string, Entry[]>()

  constructor(phrases: Lexicon['wordsOfConcepts'], side: 0 | 1) {
    for (const concept of Object.keys(phrases) as Concept[])
      for (const phrase of phrases[concept][side]) {
        const words = phrase.split(' ')
        const same = this.#byFirst.get(words[0]!)
        if (same === undefined) this.#byFirst.set(words[0]!, [{ concept, words }])
        else same.push({ concept, words })
      }
    for (const same of this.#byFirst.values()) same.sort((a, b) => b.words.length - a.words.length)
  }

  /** The concept of the longest phrase that begins at `at`, and its length in words. */
  longestAt(words: readonly Word[], at: number): { readonly concept: Concept; readonly length: number } | null {
    const found = this.#byFirst.get(words[at]!.folded)?.find(entry => occursAt(entry, words, at))
    return found === undefined ? null : { concept: found.concept, length: found.words.length }
  }

  /** All concepts of which a phrase occurs in the words. */
  allIn(words: readonly Word[]): Set<Concept> {
    const found = new Set<Concept>()
    for (let at = 0; at < words.length; at++)
      for (const entry of this.#byFirst.get(words[at]!.folded) ?? [])
        if (occursAt(entry, words, at)) found.add(entry.concept)
    return found
  }
}

function occursAt(entry: Entry, words: readonly Word[], at: number): boolean {
  return entry.words.every((word, i) => words[at + i]?.folded === word)
}
