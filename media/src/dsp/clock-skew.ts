import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'

const WINDOW_MS = 2000
/** A smaller difference may be jitter or a delayed first packet: not worth a correction that can be heard. */
const SMALLEST_MS: Ms = 8

/**
 * Measures how far a sender's clock has drifted from ours. Network delay only ever adds: the smallest lateness of a
 * window is the difference of the clocks (or a lasting change of the path), and that is what may be corrected.
 */
export class ClockSkew {
  /** Correction that is due, samples: positive moves the stream later. */
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

  /** The stream was placed anew: earlier measurements no longer apply. */
  restart(): void {
    this.due = 0
    this.#windowEnds = Number.NaN
    this.#least = Number.POSITIVE_INFINITY
  }
}
