import type { Ms, Time } from '@parley/kernel'
import { until } from '../waiting.ts'

/** Wakes the one who waits for it; a ring that comes before is heard at once. */
export class Signal {
  readonly #time: Time
  #rings = new AbortController()

  constructor(time: Time) {
    this.#time = time
  }

  ring(): void {
    this.#rings.abort()
  }

  /** Resolves at a ring since the last time, or at `deadline`. */
  async rung(deadline: Ms): Promise<void> {
    await until(this.#time, deadline, this.#rings.signal)
    this.#rings = new AbortController()
  }
}
