import type { LegOptions, SipCallLeg } from '@parley/leg'
import type { Call, CallOwner } from './call.ts'
import type { CallControl, CallHandler } from './call-handler.ts'

/** Decisions about a call, inbound or outbound, that precede its media, and callbacks for its progress. */
export interface CallPlan extends CallOwner {
  /** Creates the handler of the call. Called once, before the answer; when it throws, the call ends as failed. */
  readonly createHandler: HandlerFactory
  /** Null: not recorded. */
  readonly recording: NonNullable<LegOptions['recording']> | null
  /**
   * Answers or refuses an inbound call while it rings. Must not reject, and must resolve soon after the leg ends. Default:
   * the call is answered at once.
   */
  readonly whileRinging?: (leg: SipCallLeg) => Promise<RingingDecision>
  /** Called when the handler is created, before the first event. */
  onCall?(call: Call): void
  /** Called instead of `onCall` when the call ends before it has a handler. */
  onAbandoned?(reason: AbandonReason): void
}

export type HandlerFactory = (control: CallControl) => CallHandler

export type RingingDecision =
  /** `createHandler`: default the plan's. */
  | { readonly kind: 'answer'; readonly createHandler?: HandlerFactory }
  | { readonly kind: 'refuse'; readonly status: number }

/** The caller cancelled; the offer could not be answered; `whileRinging` refused the call. */
export type AbandonReason = 'caller_gone' | 'not_answered' | 'refused'
