import { type Ms, RecentMap } from '@parley/kernel'
import type { Target } from './transport.ts'

/** How long a failed target is tried last (RFC 3263 section 4.3 leaves the time open). */
const AVOID_MS = 30_000
/** Upper limit on the time from a server's Retry-After. */
const MAX_AVOID_MS = 600_000

/** Codes of send failures that the target caused, as opposed to this process. */
const FAULTS = new Set([
  'refused',
  'timeout',
  'unreachable',
  'reset',
  'connect_failed',
  'tls_failed',
  'tls_identity',
  'closed',
])

/** Whether a failure with this code is the target's fault. */
export function isTargetFault(code: string): boolean {
  return FAULTS.has(code)
}

interface Failure {
  readonly until: Ms
  /** The target asked for it, by a Retry-After. */
  readonly isWanted: boolean
}

/**
 * Targets that failed recently: they are tried last, never left out. The key contains everything that distinguishes
 * connections, so that a failure does not count against another certificate name at the same address.
 */
export class TargetHealth {
  readonly #failures: RecentMap<string, Failure>

  constructor(capacity = 1_000) {
    this.#failures = new RecentMap(capacity)
  }

  /** The target is tried last for `avoidMs`, default 30 s. */
  failed(target: Target, now: Ms, avoidMs: Ms = AVOID_MS): void {
    const known = this.#failures.get(keyOf(target))
    const isWanted = known?.isWanted === true && known.until > now
    this.#failures.set(keyOf(target), { until: Math.max(now + avoidMs, isWanted ? known.until : now), isWanted })
  }

  /** The target answered 503 and wants no requests for this long; at most 10 min. */
  unavailable(target: Target, now: Ms, retryAfterMs: Ms): void {
    this.#failures.set(keyOf(target), { until: now + Math.min(retryAfterMs, MAX_AVOID_MS), isWanted: true })
  }

  worked(target: Target): void {
    this.#failures.delete(keyOf(target))
  }

  /** The target answered OPTIONS: it is alive. Whether it takes calls again before its Retry-After this does not say. */
  answered(target: Target): void {
    const key = keyOf(target)
    if (this.#failures.get(key)?.isWanted === false) this.#failures.delete(key)
  }

  /** The same targets: first those without a fresh failure, in their order, then the others, those whose failure expires first in front. */
  order(targets: readonly Target[], now: Ms): readonly Target[] {
    if (this.#failures.size === 0) return targets
    const until = (target: Target) => {
      const at = this.#failures.get(keyOf(target))?.until ?? now
      return at > now ? at : now
    }
    return [...targets].sort((a, b) => until(a) - until(b))
  }
}

function keyOf(target: Target): string {
  return `${target.transport}|${target.address}|${target.port}|${target.serverName.toLowerCase()}`
}
