import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'

const WINDOW_MS = 2000
/** Below this it may be jitter or a first packet that came a little late: not worth a slip in speech. */
const SMALLEST_MS: Ms = 8

/**
 * Watches how far a sender's clock has run away from ours. Network delay only ever adds: the least lateness of a window is
 * the clocks' own difference (or a lasting change of the path), and that is what may be corrected.
 */
export class ClockSkew {
  /** Correction to be made: positive moves the stream later. */
  due: Samples = 0
  readonly #smallest: Samples
  #windowEnds: Ms = Number.NaN
  #least: Samples = Number.POSITIVE_INFINITY

  constructor(format: AudioFormat = NARROWBAND) {
    this.#smallest = msToSamples(SMALLEST_MS, format)
  }

  /** `lateness`: how much later than its place on our clock a packet arrived. */
  observe(lateness: Samples, nowMs: Ms): void {
    if (Number.isNaN(this.#windowEnds)) this.#windowEnds = nowMs + WINDOW_MS
    this.#least = Math.min(this.#least, lateness)
    if (nowMs < this.#windowEnds) return
    this.due = Math.abs(this.#least) >= this.#smallest ? Math.round(this.#least) : 0
    this.#windowEnds = nowMs + WINDOW_MS
    this.#least = Number.POSITIVE_INFINITY
  }

  corrected(samples: Samples): void {
    this.due -= samples
    this.#least -= samples
  }

  /** The stream got a new place: what was seen before says nothing. */
  restart(): void {
    this.due = 0
    this.#windowEnds = Number.NaN
    this.#least = Number.POSITIVE_INFINITY
  }
}
