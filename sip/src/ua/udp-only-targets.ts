import { type Ms, RecentMap, type Time } from '@parley/kernel'
import type { Target } from '../transport/transport.ts'

/** How long TCP is not tried again at a target that refused it. */
const REFUSAL_LASTS_MS: Ms = 600_000

const MAX_REFUSALS = 256

/**
 * Targets that refused TCP, although RFC 3261 section 18 requires every element to support UDP and TCP: they get large
 * requests over UDP (section 18.1.1).
 */
export class UdpOnlyTargets {
  readonly #time: Time
  readonly #until = new RecentMap<string, Ms>(MAX_REFUSALS)

  constructor(time: Time) {
    this.#time = time
  }

  add(target: Target): void {
    this.#until.set(keyOf(target), this.#time.now() + REFUSAL_LASTS_MS)
  }

  has(target: Target): boolean {
    return (this.#until.get(keyOf(target)) ?? Number.NEGATIVE_INFINITY) > this.#time.now()
  }
}

function keyOf({ address, port }: Target): string {
  return `${address} ${port}`
}
