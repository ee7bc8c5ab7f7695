import type { Ms } from '@parley/kernel'
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

/**
 * Targets that failed recently: they are tried last, never left out. The key contains everything that distinguishes
 * connections, so that a failure does not count against another certificate name at the same address.
 */
export class TargetHealth {
  readonly #capacity: number
  readonly #avoidUntil = new Map<string, Ms>()

  constructor(capacity = 1_000) {
    this.#capacity = capacity
  }

  /** `retryAfterMs`: what its 503 asked for; default 30 s, at most 10 min. */
  failed(target: Target, now: Ms, retryAfterMs: Ms = AVOID_MS): void {
    const key = keyOf(target)
    this.#avoidUntil.delete(key)
    this.#avoidUntil.set(key, now + Math.min(retryAfterMs, MAX_AVOID_MS))
    if (this.#avoidUntil.size > this.#capacity) this.#avoidUntil.delete(this.#avoidUntil.keys().next().value!)
  }

  worked(target: Target): void {
    this.#avoidUntil.delete(keyOf(target))
  }

  /** The same targets: first those without a fresh failure, in their order, then the others, those whose failure expires first in front. */
  order(targets: readonly Target[], now: Ms): readonly Target[] {
    if (this.#avoidUntil.size === 0) return targets
    const until = (target: Target) => {
      const at = this.#avoidUntil.get(keyOf(target)) ?? now
      return at > now ? at : now
    }
    return [...targets].sort((a, b) => until(a) - until(b))
  }
}

function keyOf(target: Target): string {
  return `${target.transport}|${target.address}|${target.port}|${target.serverName.toLowerCase()}`
}
