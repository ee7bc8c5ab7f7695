import type { Ms, Time } from '@parley/kernel'
import type { Target } from '../transport/transport.ts'

/** How long a target that refused TCP is spared another attempt. */
const REFUSAL_LASTS_MS: Ms = 600_000

const MOST_REFUSALS = 256

/** Targets that take UDP only, though 18.1.1 asks every element for both. */
export class UdpOnlyTargets {
  readonly #time: Time
  readonly #until = new Map<string, Ms>()

  constructor(time: Time) {
    this.#time = time
  }

  add(target: Target): void {
    if (this.#until.size >= MOST_REFUSALS) this.#until.delete(this.#until.keys().next().value ?? '')
    this.#until.set(keyOf(target), this.#time.now() + REFUSAL_LASTS_MS)
  }

  has(target: Target): boolean {
    return (this.#until.get(keyOf(target)) ?? Number.NEGATIVE_INFINITY) > this.#time.now()
  }
}

function keyOf({ address, port }: Target): string {
  return `${address} ${port}`
}
