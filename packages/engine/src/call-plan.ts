import type { CallLeg, LegOptions } from '@parley/leg'
import type { Call, CallEvent } from './call.ts'
import type { CallControl, CallHandler } from './call-handler.ts'

/** What is decided about a call before its media opens, the same for inbound and outbound calls, and who follows it. */
export interface CallPlan {
  /** Makes what talks on the call. Called once, before the answer; when it throws, the call ends as failed. */
  readonly createHandler: HandlerFactory
  /** Null: not recorded. */
  readonly recording: NonNullable<LegOptions['recording']> | null
  /**
   * Decides about an inbound call while it rings. Never rejects, and resolves soon after the leg ended. Default: the call is
   * answered at once.
   */
  readonly whileRinging?: (leg: CallLeg) => Promise<RingingDecision>
  /** Called when the handler is made, before the first event. */
  onCall?(call: Call): void
  onEvent?(event: CallEvent, call: Call): void
  /** Called instead of `onCall` where no call comes of it. */
  onAbandoned?(why: AbandonReason): void
}

export type HandlerFactory = (control: CallControl) => CallHandler

export type RingingDecision =
  /** `createHandler`: default the plan's. */
  | { readonly kind: 'answer'; readonly createHandler?: HandlerFactory }
  | { readonly kind: 'refuse'; readonly status: number }

/** The caller gave up first; the offer could not be answered; `whileRinging` refused the call. */
export type AbandonReason = 'caller_gone' | 'not_answered' | 'refused'
