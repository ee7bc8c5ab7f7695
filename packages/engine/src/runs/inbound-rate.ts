import { type Ms, TokenBuckets } from '@parley/kernel'
import type { InboundTrunk } from '@parley/store'

/** Default of `TrunkDetails.inbound_cps`: calls per second that one engine takes from a trunk. */
const CALLS_PER_SECOND = 100
/** A trunk that was quiet may begin at once as many calls as its rate allows in this time. */
const BURST_MS: Ms = 2000
/** Trunks, and groups of trunks at the same addresses, whose calls are counted at least. */
const MAX_COUNTED = 20_000

/** What the rate of a trunk depends on. */
type CountedTrunk = Pick<InboundTrunk, 'trunk_id' | 'details'> & {
  readonly scope: Pick<InboundTrunk['scope'], 'tenant_id'>
}

/**
 * Limits how many calls per second an engine takes from each trunk (token bucket), so that a flood of one trunk costs no
 * database query and leaves the other trunks their calls.
 */
export class InboundRate {
  readonly #buckets = new TokenBuckets(MAX_COUNTED)

  /** Counts a call of one of these trunks; false: their rates together are exceeded. */
  take(trunks: readonly CountedTrunk[], nowMs: Ms): boolean {
    const perSecond = trunks.reduce((sum, { details }) => sum + (details.inbound_cps ?? CALLS_PER_SECOND), 0)
    const burst = Math.max(1, (perSecond * BURST_MS) / 1000)
    const group = trunks.map(({ scope, trunk_id }) => `${scope.tenant_id}/${trunk_id}`).join(' ')
    return this.#buckets.take(group, { perSecond, burst }, nowMs)
  }
}
