import type { PreemptiveGenerationReport, SwapAgent, TimelineItem, TurnLatency, Utterance } from '@parley/conversation'
import type { CallLeg, LegEvent } from '@parley/leg'
import type { ChatMessage } from '@parley/providers'
import type { LocalEnding } from './outcome.ts'

/** What a handler may do with its call. */
export interface CallControl {
  readonly leg: CallLeg
  /** Ends the call: speech stops, then BYE. The first reason given stands. After `swapAgent` "transferred" hands the call over instead. */
  end(why: LocalEnding): void
  /**
   * Prepares another agent to continue the call. Resolves with the id of its run; null: none can. Never rejects. Absent: no agent can.
   */
  readonly swapAgent?: SwapAgent
  /** Adds an item to the timeline. */
  addTimelineItem(item: TimelineItem): void
}

/** Talks on a call. Created before the answer; owned by the call. */
export interface CallHandler {
  /** Called with every event of the leg except "ended"; from "answered" on audio flows, early media before it. */
  onLeg(event: LegEvent): void
  /** Reads the audio received since the last call. Called every 20 ms while the call is up, and during early media. */
  drain(): void
  /** Applies the variables of a live update from the agent's next turn on. Absent: the handler has no variables. */
  updateVariables?(values: Readonly<Record<string, string>>): void
  /** Value of a variable of the flow. Absent: the handler has no variables. */
  variable?(name: string): string | undefined
  /** What an agent that continues the call takes over. Absent: nothing. */
  carriedOver?(): CarriedConversation
  /** Stops speaking for good, because the call is ending. */
  stop(): void
  /** Resolves when no action of the handler is in progress; never rejects. */
  settled(): Promise<void>
  readonly result: CallHandlerResult
}

/** What an agent that continues a call takes over from the one before. */
export interface CarriedConversation {
  /** What was heard so far, as a model reads it. */
  readonly history: readonly ChatMessage[]
  /** The variables of the flow that were set. */
  readonly variables: Readonly<Record<string, string>>
}

/** What a handler reports when the call is over. */
export interface CallHandlerResult {
  readonly utterances: readonly Utterance[]
  readonly timeline: readonly TimelineItem[]
  /** Digits that the far end pressed. */
  readonly digits: string
  /** One for each answer of the agent, in order. */
  readonly latencies: readonly TurnLatency[]
  /** What preemptive generation cost and saved; null where no model is used. */
  readonly preemptive: PreemptiveGenerationReport | null
}

/** What a run knows when another one continues its call. */
export interface HandOver {
  readonly result: CallHandlerResult
  /** Segments of the recording so far; null: it failed, or there is none. */
  readonly segments: number | null
  /** Id of the run that continues the call. */
  readonly successor: string
  /** Resolves when the handler has settled, or after some seconds. */
  readonly settled: Promise<void>
}
