import type { Samples } from '@parley/kernel'
import { type LowPassDesign, lowPass } from './windowed-sinc.ts'

/** A linear-phase low-pass over a stream of audio. */
export class LowPassFilter {
  /** Delay of the filter. */
  readonly delay: Samples
  readonly #taps: Float64Array
  /** The newest samples, stored twice, so that the filter's window is always contiguous. */
  readonly #recent: Float64Array
  #next = 0
  /** Zeros since the last other sample: a window of zeros yields zero and is not computed. */
  #zeros = 0

  constructor(design: LowPassDesign) {
    this.#taps = lowPass(design)
    this.delay = this.#taps.length >> 1
    this.#recent = new Float64Array(2 * this.#taps.length)
    this.#zeros = this.#taps.length
  }

  /** Filters `count` samples from `audio[offset]` to `into[intoOffset]`; the two may be the same place. Allocates nothing. */
  filter(audio: Int16Array, offset: number, count: Samples, into: Int16Array, intoOffset: number): void {
    const taps = this.#taps
    const recent = this.#recent
    const half = this.delay
    let next = this.#next
    for (let i = 0; i < count; i++) {
      const sample = audio[offset + i]!
      recent[next] = sample
      recent[next + taps.length] = sample
      next = next + 1 === taps.length ? 0 : next + 1
      this.#zeros = sample === 0 ? this.#zeros + 1 : 0
      if (this.#zeros >= taps.length) {
        into[intoOffset + i] = 0
        continue
      }
      let sum = taps[half]! * recent[next + half]!
      const last = next + taps.length - 1
      for (let k = 0; k < half; k++) sum += taps[k]! * (recent[next + k]! + recent[last - k]!)
      into[intoOffset + i] = Math.max(-32_768, Math.min(32_767, Math.round(sum)))
    }
    this.#next = next
  }

  /** Clears the filter's state, for use after a gap. */
  reset(): void {
    this.#recent.fill(0)
    this.#zeros = this.#taps.length
    this.#next = 0
  }
}
