import type { LegSecurity, SipRequest } from '@parley/leg'
import type { CallPlan } from './call-plan.ts'

/** Ways in that others decide about: trunks, their numbers, and what becomes of a call there. */
export interface InboundRouter {
  /** Whose INVITE (or other request) it is; null: nobody's, and it gets no answer. Asked before anything is kept. */
  find(request: SipRequest, sourceAddress: string): InboundRoute | null
  /** Whether some trunk lists the address: it is no stranger, though without a token it reaches nobody. */
  lists(sourceAddress: string): boolean
}

export interface InboundRoute {
  /** What the far end's certificate proves when its call is dialled anew: the trunk's own host; null: unknown. */
  readonly serverName: string | null
  /** Takes a call in, or says how it is refused. Never rejects. */
  receive(invite: SipRequest): Promise<InboundDecision>
  /** A call to it was refused with 503 before it was looked at. Returns at once. */
  refused(invite: SipRequest, why: CapacityRefusal): void
}

/** Why an engine takes no call. */
export type CapacityRefusal = 'draining' | 'overload'

export type InboundDecision =
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterS?: number }
  | { readonly kind: 'taken'; readonly security: LegSecurity; readonly plan: CallPlan }
