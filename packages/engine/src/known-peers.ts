import { type Ms, RecentMap } from '@parley/kernel'

const KNOWN_FOR_MS = 10 * 60_000
/** Addresses that are remembered at least; at most twice as many. */
const MAX_ADDRESSES = 10_000

/**
 * Addresses that we called. For ten minutes after a call, requests from them are answered (a late BYE with 481); requests from
 * unknown addresses are dropped.
 */
export class KnownPeers {
  /** Expiry times by address. */
  readonly #until = new RecentMap<string, Ms>(MAX_ADDRESSES)

  note(address: string, nowMs: Ms): void {
    this.#until.set(address, nowMs + KNOWN_FOR_MS)
  }

  has(address: string, nowMs: Ms): boolean {
    return (this.#until.get(address) ?? 0) > nowMs
  }
}
