import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'

/** The last stretch of what was heard, overwritten for ever. */
export class HeardHistory {
  readonly #ring: Int16Array
  #written: Samples = 0

  readonly #format: AudioFormat

  constructor(lengthMs: Ms, format: AudioFormat = NARROWBAND) {
    this.#format = format
    this.#ring = new Int16Array(msToSamples(lengthMs, format))
  }

  write(samples: Int16Array): void {
    for (const sample of samples) this.#ring[this.#written++ % this.#ring.length] = sample
  }

  /** At most `ms` of the newest audio, oldest sample first. */
  newest(ms: Ms): Int16Array {
    const count = Math.min(msToSamples(ms, this.#format), this.#written, this.#ring.length)
    const out = new Int16Array(count)
    for (let i = 0; i < count; i++) out[i] = this.#ring[(this.#written - count + i) % this.#ring.length]!
    return out
  }
}
