import { type Ms, SAMPLES_PER_MS, type Samples } from '@parley/kernel'

/** The last stretch of what was heard, overwritten for ever. */
export class HeardHistory {
  readonly #ring: Int16Array
  #written: Samples = 0

  constructor(lengthMs: Ms) {
    this.#ring = new Int16Array(lengthMs * SAMPLES_PER_MS)
  }

  write(samples: Int16Array): void {
    for (const sample of samples) this.#ring[this.#written++ % this.#ring.length] = sample
  }

  /** At most `ms` of the newest audio, oldest sample first. */
  newest(ms: Ms): Int16Array {
    const count = Math.min(ms * SAMPLES_PER_MS, this.#written, this.#ring.length)
    const out = new Int16Array(count)
    for (let i = 0; i < count; i++) out[i] = this.#ring[(this.#written - count + i) % this.#ring.length]!
    return out
  }
}
