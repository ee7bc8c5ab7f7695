/** Longer text without a sentence end is cut at its last comma or blank, so that the voice does not wait for it. */
const MAX_LENGTH = 240
const SENTENCE_END = /[.!?…]["')\]»”]*\s/g
/** "Dr. Smith", "3. street": a full stop that does not end a sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:[A-Za-zÀ-ÿ]|\d+|dr|dra|mr|mrs|ms|sr|sra|srta|st|no|núm|etc|vs|approx|apt|ave|tel|ext)\.$/i

/** Splits streamed text into sentences, each as soon as it is complete. */
export class SentenceStream {
  #text = ''

  /** Returns the sentences that `delta` completes. A sentence is complete when white space follows its end. */
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

  /** The rest at the end of the text; null if there is none. */
  flush(): string | null {
    const rest = this.#text.trim()
    this.#text = ''
    return rest === '' ? null : rest
  }

  #nextCut(): number {
    for (const match of this.#text.matchAll(SENTENCE_END)) {
      const end = match.index + match[0].length
      if (end > MAX_LENGTH) break
      const isFullStop = match[0].startsWith('.')
      if (isFullStop && ABBREVIATION.test(this.#text.slice(0, match.index + 1))) continue
      return end
    }
    if (this.#text.length <= MAX_LENGTH) return 0
    const head = this.#text.slice(0, MAX_LENGTH)
    const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('; '), head.lastIndexOf(': '))
    if (comma > MAX_LENGTH / 3) return comma + 2
    const blank = head.lastIndexOf(' ')
    return blank > 0 ? blank + 1 : MAX_LENGTH
  }
}

/** The sentences of a whole text. */
export function sentencesOf(text: string): string[] {
  const stream = new SentenceStream()
  const sentences = stream.push(text)
  const rest = stream.flush()
  return rest === null ? sentences : [...sentences, rest]
}
