import { msToSamples, NARROWBAND, type Samples } from '@parley/kernel'

/** Initial capacity, and how much old audio is dropped at once, so that the buffer is not copied for every packet. */
const CHUNK: Samples = msToSamples(10_000, NARROWBAND)
const SILENCE = new Int16Array(CHUNK)

/** Buffer of the newest received audio, 8 kHz, contiguous. */
export class HeardAudio {
  readonly #capacity: Samples
  #buffer = new Int16Array(CHUNK)
  #length = 0
  /** Position after the newest sample; null before the first. */
  #end: Samples | null = null

  /** Stores the newest `capacity` samples. */
  constructor(capacity: Samples) {
    this.#capacity = capacity
  }

  /** `atSample`: position of the first of `audio` on the sample clock; a gap before it is stored as silence. */
  append(audio: Int16Array, atSample: Samples): void {
    const lost = Math.min(atSample - (this.#end ?? atSample), this.#capacity)
    for (let left = lost; left > 0; left -= CHUNK) this.#push(SILENCE.subarray(0, Math.min(left, CHUNK)))
    for (let from = 0; from < audio.length; from += CHUNK) this.#push(audio.subarray(from, from + CHUNK))
    this.#end = atSample + audio.length
  }

  /** A copy of all that is stored. */
  samples(): Int16Array {
    return this.#buffer.slice(Math.max(0, this.#length - this.#capacity), this.#length)
  }

  #push(chunk: Int16Array): void {
    if (this.#length + chunk.length > this.#buffer.length) this.#grow(chunk.length)
    this.#buffer.set(chunk, this.#length)
    this.#length += chunk.length
  }

  #grow(coming: Samples): void {
    const retained = this.#buffer.subarray(Math.max(0, this.#length - this.#capacity), this.#length)
    const capacity = Math.min(Math.max(this.#buffer.length, 2 * (retained.length + coming)), this.#capacity + CHUNK)
    const buffer = capacity === this.#buffer.length ? this.#buffer : new Int16Array(capacity)
    buffer.set(retained)
    this.#buffer = buffer
    this.#length = retained.length
  }
}
