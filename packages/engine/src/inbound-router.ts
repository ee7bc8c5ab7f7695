import type { LegOptions, LegSecurity, SipRequest } from '@parley/leg'
import type { IpNetwork } from '@parley/sip'
import type { CapacityRefusal } from './call-capacity.ts'
import type { CallPlan } from './call-plan.ts'

/** Finds the route of an inbound request. Called once per request, before the engine has any state for it. */
export interface InboundRouter {
  /** Null: this router has no route for it. A request without a route in any router gets no response. `flowId`: that of the request's flow. */
  find(request: SipRequest, sourceAddress: string, flowId?: string): InboundRoute | null
  /** Whether a trunk lists the address. Its requests without a route are answered, except INVITEs. */
  lists(sourceAddress: string): boolean
}

/** The receiver of an INVITE, found by the guard and passed on with the INVITE. */
export interface InboundRoute {
  /** The trunk's host, which the far end's certificate must name when a request opens a new connection to it; null: unknown. */
  readonly serverName: string | null
  /** Networks that staff configured for the trunks that the request may be of: in-dialog requests must come from one of them. Absent: not known. */
  readonly sources?: readonly IpNetwork[] | undefined
  /** Admits the call or decides how it is refused. Never rejects. */
  receive(invite: SipRequest): Promise<InboundDecision>
  /** Counts a call in the trunk's rate; false: the rate is exceeded, and the call is answered 503. Absent: there is no limit. */
  takeRateSlot?(): boolean
  /** Records that the engine refused a call with 503 before `receive`. Returns at once. */
  refused(invite: SipRequest, why: CallRefusal): void
}

/** Why a call is refused before it is admitted. */
export type CallRefusal = CapacityRefusal | 'call_rate'

/** What a trunk's settings say about the media of its calls. */
export type TrunkMedia = Pick<
  LegOptions,
  'security' | 'codecs' | 'mediaSources' | 'silentRemoteAfterMs' | 'digitsByInfo'
>

export type InboundDecision =
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterS?: number }
  | ({
      readonly kind: 'taken'
      readonly security: LegSecurity
      readonly plan: CallPlan
    } & TrunkMedia)

/** Asks several routers in order; the first that has a route wins. */
export function firstRouteOf(routers: readonly InboundRouter[]): InboundRouter {
  return {
    find(request, sourceAddress, flowId) {
      for (const router of routers) {
        const route = router.find(request, sourceAddress, flowId)
        if (route !== null) return route
      }
      return null
    },
    lists: sourceAddress => routers.some(router => router.lists(sourceAddress)),
  }
}
