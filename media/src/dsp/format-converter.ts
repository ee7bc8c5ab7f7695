import { type AudioFormat, type Ms, msToSamples, type Samples } from '@parley/kernel'
import { Resampler } from './resampler.ts'

const MAX_MS: Ms = 60

/**
 * Converts one direction's audio for a consumer with another rate (voice activity, DTMF tones, a recording, a
 * recogniser): samples, and positions on a clock of that rate which begins with the call's. Audio of equal rates passes
 * unchanged. Allocates nothing per packet.
 */
export class FormatConverter {
  /** Input samples for each output sample. */
  readonly ratio: number
  /** Result of the last `push`: `count` samples, the first at `position`. */
  samples: Int16Array
  count: Samples = 0
  position: Samples = 0
  readonly #resampler: Resampler | null
  /** Position at which the next input continues the last one. */
  #next: Samples = -1

  /** Both formats must be mono. */
  constructor(from: AudioFormat, to: AudioFormat) {
    this.ratio = from.sampleRateHz / to.sampleRateHz
    const isSame = this.ratio === 1
    this.#resampler = isSame ? null : new Resampler(from.sampleRateHz, to.sampleRateHz, msToSamples(MAX_MS, from))
    this.samples = new Int16Array(isSame ? 0 : msToSamples(MAX_MS, to) + 1)
  }

  /** Converts `count` samples, at most 60 ms, whose first is at `position`. */
  push(position: Samples, samples: Int16Array, count: Samples): void {
    if (this.#resampler === null) {
      this.position = position
      this.samples = samples
      this.count = count
      return
    }
    if (position === this.#next) this.position += this.count
    else this.position = Math.floor(position / this.ratio)
    this.#next = position + count
    this.count = this.#resampler.process(samples, 0, count, this.samples, 0)
  }
}
