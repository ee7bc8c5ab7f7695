import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'

/** Ring buffer of the newest heard audio. */
export class HeardHistory {
  readonly #ring: Int16Array
  readonly #format: AudioFormat
  #written: Samples = 0

  constructor(lengthMs: Ms, format: AudioFormat = NARROWBAND) {
    this.#format = format
    this.#ring = new Int16Array(msToSamples(lengthMs, format))
  }

  write(samples: Int16Array): void {
    const { length } = this.#ring
    const at = this.#written % length
    this.#written += samples.length
    if (at + samples.length <= length) return this.#ring.set(samples, at)
    const newest = samples.subarray(Math.max(0, samples.length - length))
    const from = (this.#written - newest.length) % length
    this.#ring.set(newest.subarray(0, length - from), from)
    this.#ring.set(newest.subarray(length - from), 0)
  }

  /** A copy of the newest audio, at most `ms`, oldest sample first. */
  newest(ms: Ms): Int16Array {
    const count = Math.min(msToSamples(ms, this.#format), this.#written, this.#ring.length)
    const out = new Int16Array(count)
    for (let i = 0; i < count; i++) out[i] = this.#ring[(this.#written - count + i) % this.#ring.length]!
    return out
  }
}
