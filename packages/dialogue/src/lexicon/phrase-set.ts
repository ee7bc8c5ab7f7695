/** Phrases of one or more words, looked up inside a list of tokens. */
export class PhraseSet {
  readonly #phrases = new Set<string>()
  /** Proper prefixes of phrases of several words. */
  readonly #beginnings = new Set<string>()
  readonly #longest: number

  constructor(phrases: Iterable<readonly string[]>) {
    let longest = 0
    for (const phrase of phrases) {
      this.#phrases.add(phrase.join(' '))
      for (let length = 1; length < phrase.length; length++) this.#beginnings.add(phrase.slice(0, length).join(' '))
      longest = Math.max(longest, phrase.length)
    }
    this.#longest = longest
  }

  /** Length in tokens of the longest phrase that begins at `from`; 0: none does. */
  lengthAt(tokens: readonly string[], from: number): number {
    for (let length = Math.min(this.#longest, tokens.length - from); length > 0; length--)
      if (this.#phrases.has(tokens.slice(from, from + length).join(' '))) return length
    return 0
  }

  /** Length in tokens of the longest phrase at the end; 0: there is none. */
  lengthAtEnd(tokens: readonly string[]): number {
    for (let length = Math.min(this.#longest, tokens.length); length > 0; length--)
      if (this.#phrases.has(tokens.slice(-length).join(' '))) return length
    return 0
  }

  /** Whether the tokens are exactly one phrase. */
  isWhole(tokens: readonly string[]): boolean {
    return tokens.length > 0 && this.lengthAt(tokens, 0) === tokens.length
  }

  /** Whether the tokens from `from` on are the beginning of a longer phrase. */
  isBeginning(tokens: readonly string[], from: number): boolean {
    return tokens.length - from < this.#longest && this.#beginnings.has(tokens.slice(from).join(' '))
  }
}
