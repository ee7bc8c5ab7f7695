import type { Ms } from '@parley/kernel'
import type { InboundTrunk } from '@parley/store'

/** Default of `TrunkDetails.inbound_cps`: calls per second that one engine takes from a trunk. */
const CALLS_PER_SECOND = 100
/** A trunk that was quiet may begin the calls of so long at once. */
const BURST_MS: Ms = 2000
/** Trunks, and groups of trunks at the same addresses, whose calls are counted. */
const MAX_COUNTED = 20_000

/** The calls that may begin now, at the time `at`. */
interface Allowance {
  calls: number
  at: Ms
}

/**
 * Limits how many calls per second an engine takes from each trunk (token bucket), so that a flood of one trunk costs no
 * database query and leaves the other trunks their calls.
 */
export class InboundRate {
  /** In order of the last call, the oldest first. */
  readonly #allowances = new Map<string, Allowance>()

  /** Counts a call of one of these trunks; false: their rates together are exceeded. */
  take(trunks: readonly InboundTrunk[], nowMs: Ms): boolean {
    const perSecond = trunks.reduce((sum, { details }) => sum + (details.inbound_cps ?? CALLS_PER_SECOND), 0)
    const burst = Math.max(1, (perSecond * BURST_MS) / 1000)
    const key = trunks.map(({ scope, trunk_id }) => `${scope.tenant_id}/${trunk_id}`).join(' ')
    const allowance = this.#allowances.get(key) ?? { calls: burst, at: nowMs }
    allowance.calls = Math.min(burst, allowance.calls + ((nowMs - allowance.at) * perSecond) / 1000)
    allowance.at = nowMs
    this.#allowances.delete(key)
    this.#allowances.set(key, allowance)
    this.#forget()
    if (allowance.calls < 1) return false
    allowance.calls--
    return true
  }

  #forget(): void {
    if (this.#allowances.size <= MAX_COUNTED) return
    for (const oldest of this.#allowances.keys()) {
      this.#allowances.delete(oldest)
      return
    }
  }
}
