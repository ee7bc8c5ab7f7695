import type { FlowOutcome, LegRequest, NodeTurnSettings } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import type { TimelineFact } from './timeline.ts'

/** Where something lies on the run's clock, ms; null in text. */
interface Span {
  readonly start_ms: Ms
  readonly end_ms: Ms
}

/** A turn of the caller, as the ears or a message gave it. */
export interface UserTurn {
  /** Blank: speech without words. */
  readonly text: string
  readonly span: Span | null
  /** When the text became final, on the run's clock. */
  readonly observed_ms: Ms | null
}

/** What became of a speech: each gets this exactly once. */
export interface SpokenReport {
  /** What of its text was heard; all of it, normally. */
  readonly heard: string
  readonly interrupted: boolean
  readonly span: Span | null
}

/**
 * What a conversation asks of its mouth and its line. A speech is one utterance; its text comes in pieces. Speeches are
 * spoken in order, the next one after the last sample of the one before.
 */
export type ConversationEvent =
  | {
      readonly type: 'speech'
      readonly speech_id: string
      readonly node_id: string
      readonly source: 'static' | 'model'
    }
  | { readonly type: 'speech-text'; readonly speech_id: string; readonly delta: string }
  /** No more text of it comes. Without any text it was nothing, and is reported back as heard "". */
  | { readonly type: 'speech-end'; readonly speech_id: string }
  /** Overtaken (the caller said something newer): what was not played is dropped, and reported back as interrupted. */
  | { readonly type: 'speech-withdrawn'; readonly speech_id: string }
  /** How turns are taken from here on. */
  | { readonly type: 'settings'; readonly settings: NodeTurnSettings }
  | {
      readonly type: 'collect-digits'
      readonly digit_limit: number | null
      readonly termination_key: string | null
      readonly timeout_ms: Ms
    }
  | { readonly type: 'await-opening'; readonly after_ms: Ms | null }
  /** The words before it were heard, and the policy allowed it; answered by `legAnswered`. */
  | { readonly type: 'leg-request'; readonly request_id: string; readonly request: LegRequest }
  /** The caller waits for the model, an action or the call leg. */
  | { readonly type: 'busy'; readonly busy: boolean }
  /** `offset_ms`: where it lies on the run's clock, where that is not now. */
  | { readonly type: 'fact'; readonly fact: TimelineFact; readonly offset_ms?: Ms }
  /**
   * The flow is over. With `ended_by` "agent" everything asked to be spoken is to be heard out first; a line is then
   * hung up. Last event but for facts of actions that are still under way.
   */
  | {
      readonly type: 'ended'
      readonly outcome: FlowOutcome
      readonly ended_by: 'agent' | 'system'
      /** With `error`. */
      readonly code: string | null
    }
