import { type AudioFormat, type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'

/** Length of a window of observations. Old ones expire, so that the origin follows a drift of the far end's clock. */
const WINDOW_MS: Ms = 5000

/**
 * Converts positions on a call's sample clock to the time of the thread that owns the call, and back. Both run on one
 * machine's clock, so that only the origin is unknown. Audio is read some time after it was received; the smallest delay
 * of the last five to ten seconds counts as zero.
 */
export class CallClock {
  #since: Ms = Number.NEGATIVE_INFINITY
  /** Smallest origin of the current window and of the one before; null without an observation. */
  #current: Ms | null = null
  #before: Ms | null = null

  readonly #format: AudioFormat

  /** `format`: of the call's audio. */
  constructor(format: AudioFormat = NARROWBAND) {
    this.#format = format
  }

  /** Notes that audio up to `position` was received by `now`. */
  observe(now: Ms, position: Samples): void {
    const origin = now - samplesToMs(position, this.#format)
    if (now - this.#since >= WINDOW_MS) {
      this.#before = this.#current
      this.#current = null
      this.#since = now
    }
    this.#current = this.#current === null ? origin : Math.min(this.#current, origin)
  }

  get isSet(): boolean {
    return this.origin !== null
  }

  /** Time at which the sample at `position` was on the line; before the first observation the origin counts as 0. */
  timeOf(position: Samples): Ms {
    return (this.origin ?? 0) + samplesToMs(position, this.#format)
  }

  /** Offset of a time on the call's sample clock, whole ms, at least 0; null before the first observation. */
  offsetOf(time: Ms): Ms | null {
    const { origin } = this
    return origin === null ? null : Math.max(0, Math.round(time - origin))
  }

  /** The origin as it was at another time. */
  restore(origin: Ms | null): void {
    this.#before = null
    this.#current = origin
  }

  /** Time of the first sample; null before the first observation. */
  get origin(): Ms | null {
    if (this.#current === null || this.#before === null) return this.#current ?? this.#before
    return Math.min(this.#current, this.#before)
  }
}
