import type { LegSecurity, SipRequest } from '@parley/leg'
import type { CodecName } from '@parley/media'
import type { CapacityRefusal } from './call-capacity.ts'
import type { CallPlan } from './call-plan.ts'

/** Finds what an inbound request is for. Asked once per request, before the engine keeps any state of it. */
export interface InboundRouter {
  /** Null: nothing of this router's; a request without any route gets no answer. */
  find(request: SipRequest, sourceAddress: string): InboundRoute | null
  /** Whether a trunk lists the address: its requests without a route are answered, unless they are an INVITE. */
  lists(sourceAddress: string): boolean
}

/** Where an INVITE goes: found by the guard, and handed on with the INVITE. */
export interface InboundRoute {
  /** The name that the far end's certificate has to prove when its call is dialled anew: the trunk's host; null: unknown. */
  readonly serverName: string | null
  /** Admits the call, or says how it is refused. Never rejects. */
  receive(invite: SipRequest): Promise<InboundDecision>
  /** Notes that the engine refused a call with 503 before `receive`. Returns at once. */
  refused(invite: SipRequest, why: CapacityRefusal): void
}

export type InboundDecision =
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterS?: number }
  | {
      readonly kind: 'taken'
      readonly security: LegSecurity
      /** That the trunk may use, in preference; default PCMU, PCMA. */
      readonly codecs?: readonly CodecName[] | undefined
      readonly plan: CallPlan
    }

/** The routes of several routers; the first that knows the request has it. */
export function firstRouteOf(routers: readonly InboundRouter[]): InboundRouter {
  return {
    find(request, sourceAddress) {
      for (const router of routers) {
        const route = router.find(request, sourceAddress)
        if (route !== null) return route
      }
      return null
    },
    lists: sourceAddress => routers.some(router => router.lists(sourceAddress)),
  }
}
