/** Times that a menu may be heard; the next one shows that the agent goes in circles. */
const MAX_HEARD = 3
/** Share of common words from which two texts are the same menu. */
const SAME_SHARE = 0.8
/** Shorter texts, such as "please hold", are no menus. */
const MIN_WORDS = 6

/** Notices that a phone menu repeats itself whatever is pressed. */
export class MenuLoop {
  readonly #menus: { readonly words: ReadonlySet<string>; heard: number }[] = []

  /** A text that the far end said. Returns whether it was heard too often. */
  hear(text: string): boolean {
    const words = new Set(
      text
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .filter(word => word !== ''),
    )
    if (words.size < MIN_WORDS) return false
    const known = this.#menus.find(menu => isSame(menu.words, words))
    if (known === undefined) {
      this.#menus.push({ words, heard: 1 })
      return false
    }
    return ++known.heard > MAX_HEARD
  }
}

function isSame(first: ReadonlySet<string>, second: ReadonlySet<string>): boolean {
  const common = [...first].filter(word => second.has(word)).length
  return common / (first.size + second.size - common) >= SAME_SHARE
}
