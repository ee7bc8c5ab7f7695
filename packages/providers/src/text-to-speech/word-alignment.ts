import type { Ms } from '@parley/kernel'

export interface TimedWord {
  readonly text: string
  /** From the start of the utterance. */
  readonly startMs: Ms
}

/** Most words of the text that are skipped to find the next word of the service, which may leave out or reword some. */
const MAX_SKIPPED = 8
/** Most times of unmatched words, which place words that were spoken differently ("12" as "twelve"). */
const MAX_UNMATCHED = 64

/**
 * Matches the words of a text (split at white space) with the word times of a service. Words that the service spoke
 * differently get interpolated times. Each word of the text is returned once, in order.
 */
export class WordAlignment {
  readonly #words: readonly string[]
  readonly #keys: readonly string[]
  /** Index of the first word without a time. */
  #next = 0
  /** Latest time so far. */
  #lastMs: Ms = 0
  /** Time of the last placed word. */
  #placedMs: Ms = 0
  #unmatched: Ms[] = []
  #placed: TimedWord[] = []
  #hasTimes = false

  constructor(text: string) {
    this.#words = text.trim().split(/\s+/)
    this.#keys = this.#words.map(keyOf)
  }

  /** Adds a word of the service. A time before that of the previous word counts as the previous time. */
  add(word: string, startMs: Ms): void {
    const key = keyOf(word)
    if (key === '') return
    this.#hasTimes = true
    const at = Math.max(startMs, this.#lastMs)
    const found = this.#find(key)
    if (found === -1) {
      if (this.#unmatched.length < MAX_UNMATCHED) this.#unmatched.push(at)
      this.#lastMs = at
      return
    }
    this.#fill(found, at)
    this.#place(at)
  }

  /** The utterance ends at `endMs`: places the remaining words, if the service sent any times. */
  end(endMs: Ms): void {
    if (this.#hasTimes) this.#fill(this.#words.length, Math.max(endMs, this.#lastMs))
  }

  /** Words that begin before `ms`, each once. */
  takeBefore(ms: Ms): readonly TimedWord[] {
    const count = this.#placed.findIndex(word => word.startMs >= ms)
    return this.#placed.splice(0, count === -1 ? this.#placed.length : count)
  }

  #find(key: string): number {
    const until = Math.min(this.#words.length, this.#next + MAX_SKIPPED + 1)
    for (let i = this.#next; i < until; i++) if (this.#keys[i] === key) return i
    return -1
  }

  /** Places the words up to index `until`, which end at `endMs`. */
  #fill(until: number, endMs: Ms): void {
    const count = until - this.#next
    const unmatched = this.#unmatched
    this.#unmatched = []
    const from = this.#lastMs
    for (let i = 0; i < count; i++) {
      const reportedMs = unmatched[Math.floor((i * unmatched.length) / count)]
      // Without unmatched times the words are spread evenly.
      this.#place(reportedMs ?? from + ((i + 1) * (endMs - from)) / (count + 1))
    }
  }

  #place(ms: Ms): void {
    this.#placedMs = Math.max(ms, this.#placedMs)
    this.#lastMs = Math.max(this.#lastMs, this.#placedMs)
    this.#placed.push({ text: this.#words[this.#next]!, startMs: this.#placedMs })
    this.#next++
  }
}

/** Letters and digits of a word in lower case, for comparison; the whole word when it has none. */
function keyOf(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '') || word.trim()
}
