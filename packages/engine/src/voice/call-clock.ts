import { type Ms, type Samples, samplesToMs } from '@parley/kernel'

/**
 * Puts positions on a call's sample clock onto the time of the thread that owns the call, and back. Both run on one
 * machine's clock, so that only the origin is unknown: heard audio is read a little after it was there, and the least
 * delay ever seen is taken for none.
 */
export class CallClock {
  #originMs: Ms | null = null

  /** Audio up to `position` had been heard by `now`. */
  observe(now: Ms, position: Samples): void {
    const origin = now - samplesToMs(position)
    if (this.#originMs === null || origin < this.#originMs) this.#originMs = origin
  }

  get isSet(): boolean {
    return this.#originMs !== null
  }

  /** When the sample at `position` was on the line; before anything was heard, a guess is 0. */
  timeOf(position: Samples): Ms {
    return (this.#originMs ?? 0) + samplesToMs(position)
  }

  /** Offset of a time on the call's sample clock, whole ms, never below 0; null before anything was heard. */
  offsetOf(time: Ms): Ms | null {
    return this.#originMs === null ? null : Math.max(0, Math.round(time - this.#originMs))
  }
}
