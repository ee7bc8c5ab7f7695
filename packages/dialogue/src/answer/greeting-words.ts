import type { Ms } from '@parley/kernel'
import type { SpokenWord } from '../protocol.ts'
import { type PhraseIndex, phraseIndex } from './phrase-index.ts'
import { normalisedSpeech, type PhrasePattern, type SpokenClass } from './phrase-patterns.ts'

/** Longest greeting that is kept, in characters. */
const MAX_TEXT = 4000

export interface WordScore {
  readonly class: SpokenClass
  readonly score: number
  readonly phrases: readonly string[]
}

/** What the far end has said since a moment, such as the answer, and how well it fits each class. */
export class GreetingWords {
  readonly #patterns: PhraseIndex
  readonly #since: Ms
  #finals = ''
  #partial = ''
  #scores: readonly WordScore[] = []
  /** End of the last word on the line. */
  lastWordEndMs: Ms = Number.NEGATIVE_INFINITY
  /** When the text last changed. */
  changedAtMs: Ms = Number.NEGATIVE_INFINITY

  /** `since`: words that ended before it are ignored, however late they come. Default: all words count. */
  constructor(patterns: readonly PhrasePattern[], since: Ms = Number.NEGATIVE_INFINITY) {
    this.#patterns = phraseIndex(patterns)
    this.#since = since
  }

  get text(): string {
    return `${this.#finals} ${this.#partial}`.trim()
  }

  get count(): number {
    return this.text === '' ? 0 : this.text.split(/\s+/).length
  }

  hear(now: Ms, text: string, words: readonly SpokenWord[], isFinal: boolean): void {
    const before = this.text
    const later = words.filter(word => word.endMs > this.#since)
    const own = later.length === words.length ? text : later.map(word => word.text).join(' ')
    if (isFinal) {
      this.#finals = `${this.#finals} ${own}`.trim().slice(-MAX_TEXT)
      this.#partial = ''
    } else this.#partial = own.slice(-MAX_TEXT)
    const end = later.at(-1)?.endMs
    if (end !== undefined) this.lastWordEndMs = Math.max(this.lastWordEndMs, end)
    if (this.text === before) return
    this.changedAtMs = now
    this.#scores = this.#scored()
  }

  /** Classes with a phrase in the words, the best first. */
  get scores(): readonly WordScore[] {
    return this.#scores
  }

  scoreOf(name: SpokenClass): number {
    return this.#scores.find(score => score.class === name)?.score ?? 0
  }

  #scored(): WordScore[] {
    const text = normalisedSpeech(this.text)
    const found = new Map<SpokenClass, { score: number; phrases: string[] }>()
    for (const { class: name, weight, phrase } of this.#patterns.in(text)) {
      const entry = found.get(name) ?? { score: 0, phrases: [] }
      entry.score += weight
      entry.phrases.push(phrase)
      found.set(name, entry)
    }
    return [...found].map(([name, entry]) => ({ class: name, ...entry })).sort((a, b) => b.score - a.score)
  }
}
