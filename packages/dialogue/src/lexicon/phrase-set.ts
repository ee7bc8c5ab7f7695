/** Phrases of one or more words, looked up inside a list of tokens. */
export class PhraseSet {
  readonly #phrases = new Set<string>()
  /** Beginnings of phrases of several words. */
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

  /** How many tokens the longest phrase takes that begins at `from`; 0: none does. */
  lengthAt(tokens: readonly string[], from: number): number {
    for (let length = Math.min(this.#longest, tokens.length - from); length > 0; length--)
      if (this.#phrases.has(tokens.slice(from, from + length).join(' '))) return length
    return 0
  }

  /** How many tokens the longest phrase takes that the tokens end with; 0: none does. */
  lengthAtEnd(tokens: readonly string[]): number {
    for (let length = Math.min(this.#longest, tokens.length); length > 0; length--)
      if (this.#phrases.has(tokens.slice(-length).join(' '))) return length
    return 0
  }

  /** Whether nothing but one phrase stands there. */
  isWhole(tokens: readonly string[]): boolean {
    return tokens.length > 0 && this.lengthAt(tokens, 0) === tokens.length
  }

  /** Whether the tokens from `from` on may yet become a phrase. */
  isBeginning(tokens: readonly string[], from: number): boolean {
    return tokens.length - from < this.#longest && this.#beginnings.has(tokens.slice(from).join(' '))
  }
}
