import type { LegSecurity, SipRequest } from '@parley/leg'
import type { CallPlan } from './call-plan.ts'

/** Ways in that others decide about: trunks, their numbers, and what becomes of a call there. */
export interface Doors {
  /** Whose INVITE (or other request) it is; null: nobody's, and it gets no answer. Asked before anything is kept. */
  find(request: SipRequest, sourceAddress: string): Door | null
  /** Whether some trunk lists the address: it is no stranger, though without a token it reaches nobody. */
  lists(sourceAddress: string): boolean
}

export interface Door {
  /** What the far end's certificate proves when its call is dialled anew: the trunk's own host; null: unknown. */
  readonly serverName: string | null
  /** Takes a call in, or says how it is refused. Never rejects. */
  receive(invite: SipRequest): Promise<Reception>
  /** A call to it was refused with 503 before it was looked at. Returns at once. */
  refused(invite: SipRequest, why: NoRoom): void
}

/** Why an engine takes no call. */
export type NoRoom = 'draining' | 'overload'

export type Reception =
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterS?: number }
  | { readonly kind: 'taken'; readonly security: LegSecurity; readonly plan: CallPlan }
