import { type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import type { HeardWord, SpeechEvent } from '@parley/providers'
import { findPattern } from './heard-pattern.ts'

/** About two hours of talk; beyond that the oldest lines are dropped. */
const MAX_WORDS = 20_000

/** One utterance of the far end, as the phone's recogniser transcribed it. Times are on the call's sample clock. */
export interface HeardLine {
  /** Blank: speech in which no word was recognised. */
  readonly text: string
  readonly startMs: Ms
  readonly endMs: Ms
  /** False: the recogniser may still revise it. */
  readonly final: boolean
}

/** The words that matched a pattern, as recognised. */
export interface HeardMatch {
  readonly text: string
  readonly startMs: Ms
  readonly endMs: Ms
}

interface Line extends HeardLine {
  readonly words: readonly HeardWord[]
}

/** Transcript of what one recogniser reported. */
export class HeardTranscript {
  #lines: Line[] = []
  #words = 0
  #partial: Line | null = null
  /** What was searched for in vain since the last event: a caller asks again whenever audio comes. */
  #missed: { readonly pattern: string | RegExp; readonly afterMs: Ms } | null = null

  note(event: SpeechEvent): void {
    this.#missed = null
    if (event.type === 'partial') this.#partial = event.words.length === 0 ? null : lineOf(event.words, false)
    if (event.type === 'final') {
      this.#partial = null
      if (event.words.length > 0) this.#append(lineOf(event.words, true))
    }
    if (event.type === 'unintelligible') this.#append(lineBetween(event.startSample, event.endSample, [], true))
  }

  /** Oldest first. */
  get lines(): readonly HeardLine[] {
    return this.#all().map(({ text, startMs, endMs, final }) => ({ text, startMs, endMs, final }))
  }

  /** The first match of `pattern` after `afterMs` (`findPattern`); a match may span lines. */
  find(pattern: string | RegExp, afterMs: Ms): HeardMatch | null {
    if (this.#missed?.pattern === pattern && this.#missed.afterMs === afterMs) return null
    const match = this.#search(pattern, afterMs)
    if (match === null) this.#missed = { pattern, afterMs }
    return match
  }

  #search(pattern: string | RegExp, afterMs: Ms): HeardMatch | null {
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

  #append(line: Line): void {
    this.#lines.push(line)
    this.#words += weight(line)
    let dropped = 0
    for (; this.#words > MAX_WORDS; dropped++) this.#words -= weight(this.#lines[dropped]!)
    if (dropped > 0) this.#lines = this.#lines.slice(dropped)
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
