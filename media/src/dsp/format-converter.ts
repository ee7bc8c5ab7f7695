import { type AudioFormat, type Ms, msToSamples, type Samples } from '@parley/kernel'
import { Resampler } from './resampler.ts'

const MAX_MS: Ms = 60

/**
 * Where one direction's audio passes to something of another rate (voice activity, tones of digits, a recording, a
 * recogniser): samples and their positions become those of a clock of that rate which begins with the call's. Between
 * equal rates everything passes untouched. Allocates nothing per packet.
 */
export class FormatConverter {
  /** Samples that come in for each one that goes out. */
  readonly ratio: number
  /** What `push` made of its input: `count` samples, the first at `position`. */
  samples: Int16Array
  count: Samples = 0
  position: Samples = 0
  readonly #resampler: Resampler | null
  /** Where input would continue the last one. */
  #next: Samples = -1

  /** Both are mono. */
  constructor(from: AudioFormat, to: AudioFormat) {
    this.ratio = from.sampleRateHz / to.sampleRateHz
    const isSame = this.ratio === 1
    this.#resampler = isSame ? null : new Resampler(from.sampleRateHz, to.sampleRateHz, msToSamples(MAX_MS, from))
    this.samples = new Int16Array(isSame ? 0 : msToSamples(MAX_MS, to) + 1)
  }

  /** `count` samples, at most 60 ms, that stand at `position`. */
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
