import { type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import type { HeardWord, SpeechEvent } from '@parley/providers'
import { findPattern } from './heard-pattern.ts'

/** Of more the oldest are forgotten: two hours of talk. */
const MOST_WORDS = 20_000

/** What the far end said in one go, as the phone's own recogniser understood it. Times are on the call's sample clock. */
export interface HeardLine {
  /** Blank: somebody spoke, and no word was understood. */
  readonly text: string
  readonly startMs: Ms
  readonly endMs: Ms
  /** False: it is still being said, and may be revised. */
  readonly final: boolean
}

/** What was looked for, as it was heard. */
export interface HeardMatch {
  readonly text: string
  readonly startMs: Ms
  readonly endMs: Ms
}

interface Line extends HeardLine {
  readonly words: readonly HeardWord[]
}

/** Writes down what a recogniser says. */
export class HeardTranscript {
  #lines: Line[] = []
  #words = 0
  #partial: Line | null = null
  #revision = 0

  /** Grows with whatever is noted. */
  get revision(): number {
    return this.#revision
  }

  note(event: SpeechEvent): void {
    this.#revision++
    if (event.type === 'partial') this.#partial = event.words.length === 0 ? null : lineOf(event.words, false)
    if (event.type === 'final') {
      this.#partial = null
      if (event.words.length > 0) this.#keep(lineOf(event.words, true))
    }
    if (event.type === 'unintelligible') this.#keep(lineBetween(event.startSample, event.endSample, [], true))
  }

  /** The oldest first. */
  get lines(): readonly HeardLine[] {
    return this.#all().map(({ text, startMs, endMs, final }) => ({ text, startMs, endMs, final }))
  }

  /** The first place behind `afterMs` where `pattern` fits (`findPattern`), over the ends of lines too. */
  find(pattern: string | RegExp, afterMs: Ms): HeardMatch | null {
    const words = this.#all()
      .flatMap(line => line.words)
      .filter(({ startSample, endSample }) => samplesToMs((startSample + endSample) / 2, NARROWBAND) >= afterMs)
    const range = findPattern(
      pattern,
      words.map(word => word.text),
    )
    if (range === null) return null
    const { text, startMs, endMs } = lineOf(words.slice(range.from, range.to), true)
    return { text, startMs, endMs }
  }

  #all(): readonly Line[] {
    return this.#partial === null ? this.#lines : [...this.#lines, this.#partial]
  }

  #keep(line: Line): void {
    this.#lines.push(line)
    this.#words += weight(line)
    let forgotten = 0
    for (; this.#words > MOST_WORDS; forgotten++) this.#words -= weight(this.#lines[forgotten]!)
    if (forgotten > 0) this.#lines = this.#lines.slice(forgotten)
  }
}

function weight(line: Line): number {
  return Math.max(1, line.words.length)
}

function lineOf(words: readonly HeardWord[], final: boolean): Line {
  return lineBetween(words[0]!.startSample, words.at(-1)!.endSample, words, final)
}

function lineBetween(start: Samples, end: Samples, words: readonly HeardWord[], final: boolean): Line {
  const text = words.map(word => word.text).join(' ')
  return { text, startMs: samplesToMs(start, NARROWBAND), endMs: samplesToMs(end, NARROWBAND), final, words }
}
