import type { LanguageCause } from '@parley/dialogue'
import type { Ms } from '@parley/kernel'
import type { TurnLatency, Utterance } from './transcript.ts'

export type SilenceStage = 'recogniser' | 'model' | 'action' | 'voice' | 'network' | 'endpointing'

/** One event of a conversation by kind, as in the timeline resource of the API. */
export type TimelineFact =
  | { readonly kind: 'state'; readonly state: string; readonly phone_state: string | null }
  | ({ readonly kind: 'utterance' } & Omit<Utterance, 'segment_id' | 'observed_offset_ms'>)
  /** `index`: the agent's utterance in the transcript. */
  | { readonly kind: 'turn'; readonly index: number; readonly latency: TurnLatency }
  | {
      readonly kind: 'node'
      readonly node_id: string
      readonly from_node_id: string | null
      readonly edge_id: string | null
      readonly cause: 'start' | 'edge' | 'global' | 'else' | 'failure' | 'return'
    }
  | {
      readonly kind: 'action'
      readonly action_id: string
      readonly effect_id: string
      readonly phase: 'started' | 'succeeded' | 'failed' | 'uncertain'
      readonly node_id: string | null
      readonly duration_ms: Ms | null
    }
  /** Passages of documents that the model got for its answer. */
  | {
      readonly kind: 'knowledge'
      readonly node_id: string | null
      readonly generation_id: string
      readonly items: readonly {
        readonly document_id: string
        readonly title: string
        readonly chunk_index: number
        readonly score: number
      }[]
      readonly search_ms: Ms
      /** How long the answer waited for the search. */
      readonly waited_ms: Ms
    }
  | { readonly kind: 'digits'; readonly direction: 'in' | 'out'; readonly digits: string }
  | { readonly kind: 'hold'; readonly held: boolean }
  /** `index`: the utterance that was interrupted or, with `resumed`, continued; null while it is not in the transcript. */
  | { readonly kind: 'interruption'; readonly index: number | null; readonly resumed: boolean }
  | {
      readonly kind: 'variables'
      readonly source: 'inbound_context' | 'extract' | 'action' | 'update'
      readonly set: readonly string[]
      readonly ignored: readonly string[]
    }
  /** The conversation goes on in another language; primary tags. */
  | { readonly kind: 'language'; readonly language: string; readonly from: string; readonly cause: LanguageCause }
  | { readonly kind: 'update'; readonly update_id: string; readonly status: string }
  /** What answered the call; `class` and `confidence` are null where the time for detection ran out. */
  | {
      readonly kind: 'contact'
      readonly contact: string
      readonly detected: string
      readonly class: string | null
      readonly confidence: number | null
      readonly evidence: readonly string[]
    }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }
  /** The caller waited longer than allowed; `stage`: for what. */
  | { readonly kind: 'silence'; readonly stage: SilenceStage; readonly duration_ms: Ms }

/** One line of the timeline; `seq` counts from 1 without gaps. */
export type TimelineItem = { readonly seq: number; readonly at: string; readonly offset_ms: Ms | null } & TimelineFact
