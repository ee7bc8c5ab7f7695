import type { Ms } from '@parley/kernel'

/** One line of the transcript resource. Times are offsets on the run's clock (a call's sample clock); null in text. */
export interface Utterance {
  readonly index: number
  readonly role: 'agent' | 'user'
  /** For the agent: only the part that was heard. */
  readonly text: string
  /** The id of the turn; utterances of one agent turn share it. */
  readonly segment_id: string | null
  /** When the text became final. */
  readonly observed_offset_ms: Ms | null
  readonly interrupted: boolean
  readonly start_ms: Ms | null
  readonly end_ms: Ms | null
  readonly node_id: string | null
}

/** Latency of one agent answer by component, in ms; null when the component took no part. */
export interface TurnLatency {
  readonly e2e: Ms | null
  readonly endpointing: Ms | null
  readonly stt: Ms | null
  readonly llm: Ms | null
  readonly tts: Ms | null
  readonly engine: Ms | null
}
