import type { Ms, Time } from '@parley/kernel'

/** Wakes the one who waits for it; a ring that comes before is heard at once. */
export class Bell {
  readonly #time: Time
  #hasRung = false
  #wake: (() => void) | null = null

  constructor(time: Time) {
    this.#time = time
  }

  ring(): void {
    this.#hasRung = true
    this.#wake?.()
  }

  /** Resolves at a ring since the last time, or at `deadline`. */
  async rung(deadline: Ms): Promise<void> {
    if (!this.#hasRung) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = this.#time.at(deadline, resolve)
      this.#wake = resolve
      await promise
      this.#wake = null
      timer.cancel()
    }
    this.#hasRung = false
  }
}
