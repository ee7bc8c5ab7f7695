import type { Ms } from '@parley/kernel'
import type { Memory } from './memory.ts'
import type { SpokenReport, UserTurn } from './protocol.ts'
import type { Speech } from './speech-queue.ts'
import type { TimelineFact } from './timeline.ts'
import type { Utterance } from './transcript.ts'
import { TranscriptLog } from './transcript-log.ts'

/** The text in memory of a turn without words. */
const NO_WORDS = '[unintelligible]'

interface ConversationRecordOptions {
  readonly memory: Memory
  /** The offset on the run's clock; null before media and in text. */
  readonly clock: () => Ms | null
  readonly onFact: (fact: TimelineFact) => void
}

/** Records what was said: in the memory, in the transcript and as facts of the timeline. */
export class ConversationRecord {
  readonly #options: ConversationRecordOptions
  readonly #transcript: TranscriptLog

  constructor(options: ConversationRecordOptions) {
    this.#options = options
    this.#transcript = new TranscriptLog(options.onFact)
  }

  get utterances(): readonly Utterance[] {
    return this.#transcript.utterances
  }

  /**
   * Records a caller turn with the words `text`; a turn without words is not in the transcript. `remembered`: the words as a model
   * reads them, where they differ.
   */
  userTurn({ observed_ms, span }: UserTurn, text: string, nodeId: string | null, remembered = text): void {
    this.#options.memory.user(remembered === '' ? NO_WORDS : remembered)
    if (text === '') return
    this.#transcript.add({
      role: 'user',
      text,
      observed_offset_ms: observed_ms,
      interrupted: false,
      start_ms: span?.start_ms ?? null,
      end_ms: span?.end_ms ?? null,
      node_id: nodeId,
    })
  }

  /** Records the part of a speech that the caller heard, and whether the caller interrupted it. */
  agentSpeech({ line, nodeId }: Speech, { heard, interrupted, span }: SpokenReport): void {
    const { memory, clock, onFact } = this.#options
    const text = heard.trim().toWellFormed()
    memory.heard(line, text, interrupted)
    if (text === '') return
    const index = this.#transcript.add({
      role: 'agent',
      text,
      observed_offset_ms: span?.end_ms ?? clock(),
      interrupted,
      start_ms: span?.start_ms ?? null,
      end_ms: span?.end_ms ?? null,
      node_id: nodeId,
    })
    if (interrupted) onFact({ kind: 'interruption', index, resumed: false })
  }
}
