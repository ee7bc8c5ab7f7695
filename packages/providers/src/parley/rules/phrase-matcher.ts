import type { Word } from './words.ts'

/** Finds the longest of a set of phrases (folded words, separated by blanks) at a position. */
export class PhraseMatcher {
  readonly #byFirst = new Map<string, (readonly string[])[]>()

  constructor(phrases: readonly string[]) {
    for (const phrase of phrases) {
      const words = phrase.split(' ')
      const same = this.#byFirst.get(words[0]!)
      if (same === undefined) this.#byFirst.set(words[0]!, [words])
      else same.push(words)
    }
    for (const same of this.#byFirst.values()) same.sort((a, b) => b.length - a.length)
  }

  /** The length in words of the longest phrase that begins at `at`; 0 when none does. */
  lengthAt(words: readonly Word[], at: number): number {
    const candidates = this.#byFirst.get(words[at]?.folded ?? '')
    const found = candidates?.find(phrase => phrase.every((word, i) => words[at + i]?.folded === word))
    return found?.length ?? 0
  }

  isIn(words: readonly Word[]): boolean {
    return words.some((_word, at) => this.lengthAt(words, at) > 0)
  }
}

/** The phrases of a text: separated by commas or line ends. */
export function phrases(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map(phrase => phrase.trim())
    .filter(phrase => phrase !== '')
}
