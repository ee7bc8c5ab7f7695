import type { Ms } from '@parley/kernel'

export interface TimedWord {
  readonly text: string
  /** From the start of the utterance. */
  readonly startMs: Ms
}

/** So far ahead in the text a service's word is looked for: it may have left some out, or said them otherwise. */
const MOST_SKIPPED = 8
/** Times of words that are not in the text, kept for those that were said otherwise ("12" as "twelve"). */
const MOST_STRANGE = 64

/**
 * Puts the words of a text (split at white space) where a service says that it spoke its own. Words that the service
 * spoke otherwise stand where they must have been; each word of the text comes once, in order.
 */
export class WordAlignment {
  readonly #words: readonly string[]
  readonly #keys: readonly string[]
  /** Words before this one are placed. */
  #next = 0
  /** Of the last word that the service told, and of the last one that was placed. */
  #lastMs: Ms = 0
  #placedMs: Ms = 0
  #strange: Ms[] = []
  #placed: TimedWord[] = []
  #heard = false

  constructor(text: string) {
    this.#words = text.trim().split(/\s+/)
    this.#keys = this.#words.map(keyOf)
  }

  /** The service spoke `word` at `startMs`. In order; what comes out of order is taken for the time before it. */
  hear(word: string, startMs: Ms): void {
    const key = keyOf(word)
    if (key === '') return
    this.#heard = true
    const at = Math.max(startMs, this.#lastMs)
    const found = this.#find(key)
    if (found === -1) {
      if (this.#strange.length < MOST_STRANGE) this.#strange.push(at)
      this.#lastMs = at
      return
    }
    this.#fill(found, at)
    this.#place(at)
  }

  /** All was spoken, until `endMs`: words that the service did not tell are placed as well, if it told any. */
  end(endMs: Ms): void {
    if (this.#heard) this.#fill(this.#words.length, Math.max(endMs, this.#lastMs))
  }

  /** Words that begin before `ms`, each once. */
  takeBefore(ms: Ms): readonly TimedWord[] {
    const count = this.#placed.findIndex(word => word.startMs >= ms)
    return this.#placed.splice(0, count === -1 ? this.#placed.length : count)
  }

  #find(key: string): number {
    const until = Math.min(this.#words.length, this.#next + MOST_SKIPPED + 1)
    for (let i = this.#next; i < until; i++) if (this.#keys[i] === key) return i
    return -1
  }

  /** Places the words before `until`, which end at `endMs`. */
  #fill(until: number, endMs: Ms): void {
    const count = until - this.#next
    const strange = this.#strange
    this.#strange = []
    const from = this.#lastMs
    for (let i = 0; i < count; i++) {
      const reportedMs = strange[Math.floor((i * strange.length) / count)]
      // Without any time of it: evenly, and after the word before it.
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

/** Letters and digits of a word, for comparing; all of it where it has none. */
function keyOf(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '') || word.trim()
}
