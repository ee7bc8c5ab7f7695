import type { Ms } from '@parley/kernel'

const REMEMBERED_MS = 10 * 60_000
const MOST = 10_000

/** Addresses that we called: they are answered for a while after the call, a late BYE with 481, instead of being ignored like a stranger. */
export class KnownPeers {
  /** In order of the last call: the oldest first. */
  readonly #until = new Map<string, Ms>()

  note(address: string, nowMs: Ms): void {
    this.#until.delete(address)
    this.#until.set(address, nowMs + REMEMBERED_MS)
    for (const [oldest, until] of this.#until) {
      if (until > nowMs && this.#until.size <= MOST) return
      this.#until.delete(oldest)
    }
  }

  has(address: string, nowMs: Ms): boolean {
    return (this.#until.get(address) ?? 0) > nowMs
  }
}
