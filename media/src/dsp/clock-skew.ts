import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'

const WINDOW_MS = 2000
/** A smaller difference may be jitter or a delayed first packet: not worth a correction that can be heard. */
const SMALLEST_MS: Ms = 8

export const SkewWords = wordsClass('due', 'windowEnds', 'least')

/**
 * Measures how far a sender's clock has drifted from ours. Network delay only ever adds: the smallest lateness of a
 * window is the difference of the clocks (or a lasting change of the path), and that is what may be corrected.
 */
export class ClockSkew {
  readonly #smallest: Samples
  readonly #state: InstanceType<typeof SkewWords>

  constructor(format: AudioFormat = NARROWBAND, memory?: Float64Array) {
    this.#smallest = msToSamples(SMALLEST_MS, format)
    this.#state = new SkewWords(memory)
    this.restart()
  }

  /** Correction that is due, samples: positive moves the stream later. */
  get due(): Samples {
    return this.#state.due
  }

  /** `lateness`: how much later than its place on our clock a packet arrived. */
  observe(lateness: Samples, nowMs: Ms): void {
    if (Number.isNaN(this.#state.windowEnds)) this.#state.windowEnds = nowMs + WINDOW_MS
    this.#state.least = Math.min(this.#state.least, lateness)
    if (nowMs < this.#state.windowEnds) return
    this.#state.due = Math.abs(this.#state.least) >= this.#smallest ? Math.round(this.#state.least) : 0
    this.#state.windowEnds = nowMs + WINDOW_MS
    this.#state.least = Number.POSITIVE_INFINITY
  }

  corrected(samples: Samples): void {
    this.#state.due -= samples
    this.#state.least -= samples
  }

  /** The stream was placed anew: earlier measurements no longer apply. */
  restart(): void {
    this.#state.due = 0
    this.#state.windowEnds = Number.NaN
    this.#state.least = Number.POSITIVE_INFINITY
  }
}
