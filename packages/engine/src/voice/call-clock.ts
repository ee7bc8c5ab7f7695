import { type AudioFormat, type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'

/** How long a delay counts as the least there is: what is heard may be placed anew, when the far end's clock turns out another. */
const MEMORY_MS: Ms = 5000

/**
 * Puts positions on a call's sample clock onto the time of the thread that owns the call, and back. Both run on one
 * machine's clock, so that only the origin is unknown: heard audio is read a little after it was there, and the least
 * delay seen in the last five to ten seconds is taken for none.
 */
export class CallClock {
  #since: Ms = Number.NEGATIVE_INFINITY
  /** Least origin since `#since`, and of the stretch before it; null where none was seen. */
  #current: Ms | null = null
  #before: Ms | null = null

  readonly #format: AudioFormat

  /** `format`: of the call, whose sample clock it is. */
  constructor(format: AudioFormat = NARROWBAND) {
    this.#format = format
  }

  /** Audio up to `position` had been heard by `now`. */
  observe(now: Ms, position: Samples): void {
    const origin = now - samplesToMs(position, this.#format)
    if (now - this.#since >= MEMORY_MS) {
      this.#before = this.#current
      this.#current = null
      this.#since = now
    }
    this.#current = this.#current === null ? origin : Math.min(this.#current, origin)
  }

  get isSet(): boolean {
    return this.#origin !== null
  }

  /** When the sample at `position` was on the line; before anything was heard, a guess is 0. */
  timeOf(position: Samples): Ms {
    return (this.#origin ?? 0) + samplesToMs(position, this.#format)
  }

  /** Offset of a time on the call's sample clock, whole ms, never below 0; null before anything was heard. */
  offsetOf(time: Ms): Ms | null {
    const origin = this.#origin
    return origin === null ? null : Math.max(0, Math.round(time - origin))
  }

  get #origin(): Ms | null {
    if (this.#current === null || this.#before === null) return this.#current ?? this.#before
    return Math.min(this.#current, this.#before)
  }
}
