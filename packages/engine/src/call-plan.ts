import type { CallLeg, DialOptions } from '@parley/leg'
import type { Call, CallEvent } from './call.ts'
import type { Used, VoiceAgent, VoiceCallFacts } from './voice/voice-agent.ts'

/** What was decided of a call before there is one, and who follows it. */
export interface CallPlan {
  /** Who talks, and what of; null: the line test. */
  readonly talk: { readonly agent: VoiceAgent; readonly facts: VoiceCallFacts } | null
  /** Null: not recorded. */
  readonly recording: NonNullable<DialOptions['recording']> | null
  /**
   * Asked while an inbound call rings; answers what the caller is told then, or the status that refuses the call. Never
   * rejects; ends soon after the leg does. Default: the call is answered at once.
   */
  readonly whileRinging?: (leg: CallLeg) => Promise<RingingAnswer>
  /** Events begin before it, or with it. */
  onCall?(call: Call): void
  onEvent?(event: CallEvent, call: Call): void
  onUsed?(used: Used): void
  /** There was never a call: its caller had gone, its offer could not be answered, or it was refused while it rang. */
  onAbandoned?(why: 'caller_gone' | 'not_answered' | 'refused'): void
}

export type RingingAnswer =
  | { readonly kind: 'answer'; readonly facts: VoiceCallFacts }
  | { readonly kind: 'refuse'; readonly status: number }
