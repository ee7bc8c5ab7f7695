import type { PreemptiveGenerationReport, TimelineItem, TurnLatency, Utterance } from '@parley/conversation'
import type { CallLeg, LegEvent } from '@parley/leg'
import type { LocalEnding } from './outcome.ts'

/** What an handler may do with its call. */
export interface CallControl {
  readonly leg: CallLeg
  /** Ends the call: speech stops, then BYE. The first reason given stands. */
  end(why: LocalEnding): void
  /** Something that belongs into the timeline. */
  tell(item: TimelineItem): void
}

/** Who talks on a call. Made before the answer; owned by the call. */
export interface CallHandler {
  /** Every event of the leg but the last. "answered": audio flows. */
  onLeg(event: LegEvent): void
  /** What was heard and not yet looked at; often, and whenever time matters. */
  drain(): void
  /** A live update: variables that hold from the agent's next turn on. Absent: it has none. */
  updateVariables?(values: Readonly<Record<string, string>>): void
  /** Silence, for good; the call is ending. */
  stop(): void
  /** Resolves when nothing that was begun outside the call is still under way; never rejects. */
  settled(): Promise<void>
  readonly result: CallHandlerResult
}

/** What an handler has to say when the call is over. */
export interface CallHandlerResult {
  readonly utterances: readonly Utterance[]
  readonly timeline: readonly TimelineItem[]
  /** Digits that the far end pressed. */
  readonly digits: string
  /** Of each answer of the agent, in order. */
  readonly latencies: readonly TurnLatency[]
  /** What asking models early has cost and brought; null where no model is asked. */
  readonly preemptive: PreemptiveGenerationReport | null
}
