import type { SampleRateHz, Samples } from '@parley/kernel'
import { filtered, filterFor, type PolyphaseFilter } from './resample.ts'

/**
 * Brings one stream of mono audio from one rate to another on the packet path: what goes in comes out `delay` later, and
 * nothing is allocated. The filter is that of `resample`.
 */
export class Resampler {
  /** Output samples by which the result is late: about 3.4 ms between 8 and 16 kHz. */
  readonly delay: Samples
  readonly #filter: PolyphaseFilter
  /** The last `taps - 1` samples of the input, then those of this call. */
  readonly #window: Float64Array
  readonly #history: number
  /** Of the next result, in units of the input's interval divided by `up`, from the first sample of the next call. */
  #next = 0

  /** `most`: samples that one call brings at most. */
  constructor(fromHz: SampleRateHz, toHz: SampleRateHz, maxSamples: Samples) {
    this.#filter = filterFor(fromHz, toHz)
    const { taps, up, down } = this.#filter
    this.#history = taps - 1
    this.#window = new Float64Array(this.#history + maxSamples)
    this.delay = Math.round((((taps - 1) >> 1) * up) / down)
  }

  /** Resamples `count` samples; returns how many it wrote. Their number keeps the ratio of the rates over all calls. */
  process(src: Int16Array, offset: number, count: Samples, dst: Int16Array, dstOffset: number): Samples {
    const { up, down } = this.#filter
    const window = this.#window
    for (let i = 0; i < count; i++) window[this.#history + i] = src[offset + i]!
    const end = count * up
    let written = 0
    for (; this.#next < end; this.#next += down) {
      const phase = this.#next % up
      const sum = filtered(this.#filter, phase, window, (this.#next - phase) / up)
      dst[dstOffset + written++] = Math.max(-32_768, Math.min(32_767, Math.round(sum)))
    }
    this.#next -= end
    window.copyWithin(0, count, count + this.#history)
    return written
  }

  /** Forgets the input so far: what comes next does not continue it. */
  reset(): void {
    this.#window.fill(0)
    this.#next = 0
  }
}
