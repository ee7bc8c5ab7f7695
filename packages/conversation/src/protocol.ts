import type { LanguageCause } from '@parley/dialogue'
import type { Expectation, FlowOutcome, Language, LegRequest, NodeTurnSettings } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import type { SpokenPiece } from './model/ask-model.ts'
import type { TimelineFact } from './timeline.ts'

/** A time span on the run's clock, in ms. */
interface Span {
  readonly start_ms: Ms
  readonly end_ms: Ms
}

/** A turn of the caller, from the speech input or a message. */
export interface UserTurn {
  /** Blank: speech without words. */
  readonly text: string
  /** Null in text. */
  readonly span: Span | null
  /** When the text became final, on the run's clock; null in text. */
  readonly observed_ms: Ms | null
  /** The caller has probably not finished: irreversible actions wait until `turnSettled`. Default false. */
  readonly isUnfinished?: boolean
  /** The language that the recogniser detected, BCP 47. Default null: none. */
  readonly language?: string | null
}

/** What the caller answers: the agent's last words, the conditions of the node's edges, and the values that the flow reads. */
interface Question extends Expectation {
  readonly agentWords: string
}

/** How much of a speech was heard. Reported exactly once for each speech. */
export interface SpokenReport {
  /** The part of its text that was heard; normally all of it. */
  readonly heard: string
  readonly interrupted: boolean
  readonly span: Span | null
}

/**
 * What a conversation requests from the speech output and the call leg, and reports to its owner. A speech is one utterance
 * whose text arrives in pieces. Speeches are played in order, one after the other.
 */
export type ConversationEvent =
  | {
      readonly type: 'speech'
      /** A holding line: it is played before speeches of which nothing is audible now. */
      readonly isHolding: boolean
      readonly speech_id: string
      /** Null: it belongs to no node, as a message for a mailbox. */
      readonly node_id: string | null
      readonly source: 'static' | 'model'
    }
  | { readonly type: 'speech-text'; readonly speech_id: string; readonly delta: string }
  /** A piece of a speech that the model speaks itself, in place of a voice. */
  | { readonly type: 'speech-audio'; readonly speech_id: string; readonly piece: SpokenPiece }
  /** The speech has no more text. A speech without any text is reported back as heard "". */
  | { readonly type: 'speech-end'; readonly speech_id: string }
  /** The caller has said something newer: the part that was not played is dropped, and the speech is reported back as interrupted. */
  | { readonly type: 'speech-withdrawn'; readonly speech_id: string }
  /** The agent speaks and understands this language from here on, because the caller does. */
  | { readonly type: 'language'; readonly language: Language; readonly cause: LanguageCause }
  /** Turn-taking settings from here on. */
  | { readonly type: 'settings'; readonly settings: NodeTurnSettings }
  | {
      readonly type: 'collect-digits'
      /** The question that the digits answer, which `digits` names. */
      readonly question: number
      /** The digits that the flow waits for; null: any. */
      readonly answers: readonly string[] | null
      readonly digit_limit: number | null
      readonly termination_key: string | null
      readonly timeout_ms: Ms
    }
  /** What the caller is asked from here on; without the agent's words when its node is entered, and with them when they were heard. */
  | { readonly type: 'question'; readonly question: Question }
  | { readonly type: 'await-opening'; readonly after_ms: Ms | null }
  /** A request to the call leg, sent after the speeches before it were heard and the policy allowed it. Answered by `legAnswered`. */
  | {
      readonly type: 'leg-request'
      readonly request_id: string
      readonly request: LegRequest
      /** Its row in the ledger; null: it has none. */
      readonly effect_id: string | null
    }
  /** The caller waits for the model, an action or the call leg. `working`: for the model or an action, so that the agent will speak. */
  | { readonly type: 'busy'; readonly busy: boolean; readonly working: boolean }
  /** `offset_ms`: position on the run's clock. Default: now. */
  | { readonly type: 'fact'; readonly fact: TimelineFact; readonly offset_ms?: Ms }
  /**
   * The flow has ended. With `ended_by` "agent" all requested speeches are played to their end before the call is hung up.
   * The last event, except for facts of actions in progress.
   */
  | {
      readonly type: 'ended'
      readonly outcome: FlowOutcome
      readonly ended_by: 'agent' | 'system'
      /** Why, with the outcome `error`; else null. */
      readonly code: string | null
    }
