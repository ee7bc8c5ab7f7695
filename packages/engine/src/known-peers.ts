import type { Ms } from '@parley/kernel'

const KNOWN_FOR_MS = 10 * 60_000
const MAX_ADDRESSES = 10_000

/**
 * Addresses that we called. For ten minutes after a call, requests from them are answered (a late BYE with 481); requests from
 * unknown addresses are dropped.
 */
export class KnownPeers {
  /** Address to its expiry time, in order of the last call, the oldest first. */
  readonly #until = new Map<string, Ms>()

  note(address: string, nowMs: Ms): void {
    this.#until.delete(address)
    this.#until.set(address, nowMs + KNOWN_FOR_MS)
    for (const [oldest, until] of this.#until) {
      if (until > nowMs && this.#until.size <= MAX_ADDRESSES) return
      this.#until.delete(oldest)
    }
  }

  has(address: string, nowMs: Ms): boolean {
    return (this.#until.get(address) ?? 0) > nowMs
  }
}
