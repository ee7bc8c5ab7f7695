/** Text that is this long without an end of a sentence is cut at its last comma or blank: a voice must get something to say. */
const LONGEST = 240
const MAX_ENDINGS = /[.!?…]["')\]»”]*\s/g
/** "Dr. Smith", "3. street": a full stop that ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:[A-Za-zÀ-ÿ]|\d+|dr|dra|mr|mrs|ms|sr|sra|srta|st|no|núm|etc|vs|approx|apt|ave|tel|ext)\.$/i

/** Cuts streamed text into pieces that can be spoken by themselves: whole sentences, as soon as each is complete. */
export class SentenceStream {
  #text = ''

  /** Returns the sentences that `delta` completed. A sentence is complete when the next one, or a blank, has begun. */
  push(delta: string): string[] {
    this.#text += delta
    const out: string[] = []
    for (let cut = this.#nextCut(); cut > 0; cut = this.#nextCut()) {
      const sentence = this.#text.slice(0, cut).trim()
      this.#text = this.#text.slice(cut)
      if (sentence !== '') out.push(sentence)
    }
    return out
  }

  /** The rest, when no more comes; null where nothing is left. */
  flush(): string | null {
    const rest = this.#text.trim()
    this.#text = ''
    return rest === '' ? null : rest
  }

  #nextCut(): number {
    for (const match of this.#text.matchAll(MAX_ENDINGS)) {
      const end = match.index + match[0].length
      if (end > LONGEST) break
      const isFullStop = match[0].startsWith('.')
      if (isFullStop && ABBREVIATION.test(this.#text.slice(0, match.index + 1))) continue
      return end
    }
    if (this.#text.length <= LONGEST) return 0
    const head = this.#text.slice(0, LONGEST)
    const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('; '), head.lastIndexOf(': '))
    if (comma > LONGEST / 3) return comma + 2
    const blank = head.lastIndexOf(' ')
    return blank > 0 ? blank + 1 : LONGEST
  }
}
