import type { TimelineFact } from './timeline.ts'
import type { Utterance } from './transcript.ts'

/** The transcript of a running conversation; each line is also emitted as a timeline fact. */
export class TranscriptLog {
  readonly #utterances: Utterance[] = []
  readonly #emit: (fact: TimelineFact) => void
  #segments = 0

  constructor(emit: (fact: TimelineFact) => void) {
    this.#emit = emit
  }

  get utterances(): readonly Utterance[] {
    return this.#utterances
  }

  /** Adds a line and returns its index. Agent lines of one turn share a segment. */
  add(line: Omit<Utterance, 'index' | 'segment_id'>): number {
    const index = this.#utterances.length
    if (line.role === 'user' || this.#utterances.at(-1)?.role !== 'agent') this.#segments++
    // Models and recognisers may emit control characters and lone surrogates; stored documents must not contain them.
    const text = line.text
      .replace(/[^\P{Cc}\n\t]+/gu, ' ')
      .trim()
      .toWellFormed()
    const utterance = { ...line, text, index, segment_id: `${line.role}-${this.#segments}` }
    this.#utterances.push(utterance)
    const { segment_id: _, observed_offset_ms: __, ...fact } = utterance
    this.#emit({ kind: 'utterance', ...fact })
    return index
  }
}
