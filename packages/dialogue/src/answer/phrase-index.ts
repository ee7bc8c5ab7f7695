import type { PhrasePattern } from './phrase-patterns.ts'

/** Finds phrases in a text; only those with a keyword in it are compared. */
export class PhraseIndex {
  readonly #patterns: readonly PhrasePattern[]
  /** Places of patterns by keyword, and of those without one. */
  readonly #places = new Map<string, number[]>()
  readonly #always: number[] = []

  constructor(patterns: readonly PhrasePattern[]) {
    this.#patterns = patterns
    patterns.forEach(({ keywords }, place) => {
      if (keywords.length === 0) this.#always.push(place)
      for (const keyword of keywords) {
        const places = this.#places.get(keyword)
        if (places === undefined) this.#places.set(keyword, [place])
        else places.push(place)
      }
    })
  }

  /** The phrases in a text of `normalisedSpeech`, in the order of the patterns. */
  in(text: string): PhrasePattern[] {
    const places = new Set(this.#always)
    for (const word of text.split(' ')) for (const place of this.#places.get(word) ?? []) places.add(place)
    return [...places]
      .sort((a, b) => a - b)
      .map(place => this.#patterns[place]!)
      .filter(({ expression }) => expression.test(text))
  }
}

const INDEXES = new WeakMap<readonly PhrasePattern[], PhraseIndex>()

/** The index of these patterns, made once. */
export function phraseIndex(patterns: readonly PhrasePattern[]): PhraseIndex {
  const known = INDEXES.get(patterns)
  if (known !== undefined) return known
  const index = new PhraseIndex(patterns)
  INDEXES.set(patterns, index)
  return index
}
