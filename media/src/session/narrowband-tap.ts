import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { Resampler } from '../dsp/resampler.ts'

const LONGEST_MS: Ms = 60

/**
 * One direction's audio for whatever works at 8 kHz (voice activity, tones of digits, the recording), with positions of an
 * 8 kHz clock that begins with the session's. A session of 8 kHz passes through untouched.
 */
export class NarrowbandTap {
  /** Session samples for each sample at 8 kHz. */
  readonly ratio: number
  /** What `push` made of its input. */
  samples: Int16Array
  count: Samples = 0
  /** Of the first of `samples`, at 8 kHz. */
  position: Samples = 0
  readonly #resampler: Resampler | null
  #next: Samples = -1

  constructor(format: AudioFormat) {
    this.ratio = format.sampleRateHz / NARROWBAND.sampleRateHz
    const isSame = this.ratio === 1
    const most = msToSamples(LONGEST_MS, format)
    this.#resampler = isSame ? null : new Resampler(format.sampleRateHz, NARROWBAND.sampleRateHz, most)
    this.samples = new Int16Array(isSame ? 0 : msToSamples(LONGEST_MS, NARROWBAND) + 1)
  }

  /** `count` samples (at most 60 ms) that stand at `position` of the session's clock. */
  push(position: Samples, samples: Int16Array, count: Samples): void {
    if (this.#resampler === null) {
      this.position = position
      this.samples = samples
      this.count = count
      return
    }
    if (position !== this.#next) this.position = Math.floor(position / this.ratio)
    else this.position += this.count
    this.#next = position + count
    this.count = this.#resampler.process(samples, 0, count, this.samples, 0)
  }
}
