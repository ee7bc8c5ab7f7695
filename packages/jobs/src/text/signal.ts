import { type Ms, sleepUntil, type Time } from '@parley/kernel'

/** Wakes the one task that waits for it; a notification that comes before the wait ends it at once. */
export class Signal {
  readonly #time: Time
  #notified = new AbortController()

  constructor(time: Time) {
    this.#time = time
  }

  notify(): void {
    this.#notified.abort()
  }

  /** Resolves at a notification since the last wait, or at `deadline`. */
  async wait(deadline: Ms): Promise<void> {
    await sleepUntil(this.#time, deadline, this.#notified.signal)
    this.#notified = new AbortController()
  }
}
