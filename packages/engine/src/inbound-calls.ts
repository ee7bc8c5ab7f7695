import type { Ms } from '@parley/kernel'
import {
  type CallLeg,
  type Flow,
  type GuardDecision,
  type InviteSession,
  type LegOptions,
  type SipCallLeg,
  type SipRequest,
  tagOf,
} from '@parley/leg'
import type { Call } from './call.ts'
import type { CallCapacity } from './call-capacity.ts'
import type { CallPlan, HandlerFactory } from './call-plan.ts'
import type { InboundRoute, InboundRouter } from './inbound-router.ts'
import type { KnownPeers } from './known-peers.ts'

/** Seconds after which a refused caller may try again. */
const RETRY_AFTER_S = 5
/** The same where the trunk's call rate is exceeded. */
const RATE_RETRY_AFTER_S = 1

interface InboundCallsOptions {
  readonly router: InboundRouter
  readonly capacity: CallCapacity
  readonly peers: KnownPeers
  readonly now: () => Ms
  /** Opens media for an INVITE; null: the offer was refused. */
  readonly openLeg: (session: InviteSession, options: LegOptions) => Promise<SipCallLeg | null>
  /** Creates the call, which the engine owns from then on. */
  readonly startCall: (leg: CallLeg, plan: CallPlan, createHandler: HandlerFactory) => Call
}

/** Decides which requests outside a dialog get a response, and which INVITE becomes a call. */
export class InboundCalls {
  readonly #options: InboundCallsOptions

  constructor(options: InboundCallsOptions) {
    this.#options = options
  }

  /**
   * The guard of the SIP user agent, called for every request outside a dialog. A request without a route gets no response,
   * unless it is not an INVITE and comes from an address that a trunk lists or that we called. The decision about an INVITE
   * carries its route, so that the route is looked up once.
   */
  guard(request: SipRequest, flow: Flow): GuardDecision {
    const { router, capacity } = this.#options
    const { address } = flow.remote
    const route = router.find(request, address, flow.id)
    if (route === null) return { action: this.#answersWithoutRoute(request, address) ? 'accept' : 'drop' }
    const { refusal } = capacity
    if (refusal !== null && tagOf(request.to) === undefined) {
      if (request.method === 'INVITE') {
        route.refused(request, refusal)
        return { action: 'reject', status: 503, retryAfterS: RETRY_AFTER_S }
      }
      // Carriers ask by OPTIONS whether they may send calls (RFC 3261 section 11.2).
      if (request.method === 'OPTIONS' && refusal === 'draining')
        return { action: 'reject', status: 503, retryAfterS: RETRY_AFTER_S }
    }
    if (request.method === 'INVITE' && tagOf(request.to) === undefined && route.takeRateSlot?.() === false) {
      route.refused(request, 'call_rate')
      return { action: 'reject', status: 503, retryAfterS: RATE_RETRY_AFTER_S }
    }
    return {
      action: 'accept',
      ...(route.serverName && { serverName: route.serverName }),
      ...(route.sources && { sources: route.sources }),
      onInvite: session => void this.#receive(route, session),
    }
  }

  /** Whether a trunk lists the address, or we called it in the last ten minutes. */
  isKnownAddress(address: string): boolean {
    const { router, peers, now } = this.#options
    return router.lists(address) || peers.has(address, now())
  }

  #answersWithoutRoute(request: SipRequest, address: string): boolean {
    return request.method !== 'INVITE' && this.isKnownAddress(address)
  }

  async #receive(route: InboundRoute, session: InviteSession): Promise<void> {
    const { capacity } = this.#options
    const { refusal } = capacity
    const place = capacity.reserve()
    if (place === null) {
      // A drain began, or the last place was taken, after the guard's decision.
      route.refused(session.invite, refusal ?? 'overload')
      return session.reject(503, { retryAfterS: RETRY_AFTER_S })
    }
    try {
      const call = await this.#callFrom(route, session)
      await call?.report
    } catch {
      session.hangUp()
    } finally {
      place.release()
    }
  }

  /** Null: the INVITE led to no call. */
  async #callFrom(route: InboundRoute, session: InviteSession): Promise<Call | null> {
    const { openLeg, startCall } = this.#options
    const decision = await route.receive(session.invite)
    if (decision.kind === 'refused') {
      const { status, retryAfterS } = decision
      // The caller may have given up meanwhile.
      if (session.state === 'incoming') session.reject(status, retryAfterS === undefined ? {} : { retryAfterS })
      return null
    }
    const { plan, kind: _, ...media } = decision
    const { recording } = plan
    if (session.state !== 'incoming') return abandoned(plan, 'caller_gone')
    const leg = await openLeg(session, { ...media, ...(recording && { recording }) })
    if (leg === null) return abandoned(plan, 'not_answered')
    leg.ring()
    const answer = (await plan.whileRinging?.(leg)) ?? { kind: 'answer' }
    if (answer.kind === 'refuse') {
      leg.reject(answer.status)
      return abandoned(plan, 'refused')
    }
    const call = startCall(leg, plan, answer.createHandler ?? plan.createHandler)
    leg.answer()
    return call
  }
}

function abandoned(plan: CallPlan, why: Parameters<NonNullable<CallPlan['onAbandoned']>>[0]): null {
  plan.onAbandoned?.(why)
  return null
}
