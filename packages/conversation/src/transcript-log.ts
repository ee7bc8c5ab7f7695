import type { TimelineFact } from './timeline.ts'
import type { Utterance } from './transcript.ts'

/** The transcript as it grows; each line is a fact of the timeline too. */
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

  /** Gives the line's index. Lines that the agent says in one turn share a segment. */
  add(line: Omit<Utterance, 'index' | 'segment_id'>): number {
    const index = this.#utterances.length
    if (line.role === 'user' || this.#utterances.at(-1)?.role !== 'agent') this.#segments++
    // What ends up in documents is well-formed text, whatever a model or a recogniser gave.
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
