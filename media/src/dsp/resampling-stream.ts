import { resample, resamplerReach } from './resample.ts'

/** `resample` for audio that arrives in pieces: the joined results equal the result for the whole. */
export class ResamplingStream {
  readonly #fromHz: number
  readonly #toHz: number
  readonly #reach: number
  readonly #up: number
  readonly #down: number
  /** Input, from a multiple of `down` on, that results still need. */
  #pending = new Int16Array(0)
  /** Index in `#pending` of the next result, in output samples. */
  #made = 0

  constructor(fromHz: number, toHz: number) {
    this.#fromHz = fromHz
    this.#toHz = toHz
    const { reach, up, down } = resamplerReach(fromHz, toHz)
    this.#reach = reach
    this.#up = up
    this.#down = down
  }

  push(input: Int16Array): Int16Array {
    if (input.length === 0) return input
    const joined = new Int16Array(this.#pending.length + input.length)
    joined.set(this.#pending)
    joined.set(input, this.#pending.length)
    // Only results for which all input after them is known.
    const upTo = Math.floor(((joined.length - this.#reach) * this.#up) / this.#down)
    if (upTo <= this.#made) {
      this.#pending = joined
      return new Int16Array(0)
    }
    const result = resample(joined, this.#fromHz, this.#toHz, this.#made, upTo)
    this.#made = upTo
    this.#forget(joined)
    return result
  }

  /** The last results; the input after the end counts as silence. */
  end(): Int16Array {
    const result = resample(this.#pending, this.#fromHz, this.#toHz, this.#made)
    this.#pending = new Int16Array(0)
    this.#made = 0
    return result
  }

  #forget(joined: Int16Array): void {
    const needed = Math.floor((this.#made * this.#down) / this.#up) - this.#reach
    const blocks = Math.max(0, Math.floor(needed / this.#down))
    this.#pending = joined.slice(blocks * this.#down)
    this.#made -= blocks * this.#up
  }
}
