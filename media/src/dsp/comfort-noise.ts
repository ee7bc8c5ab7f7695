import type { Samples } from '@parley/kernel'
import { MediaError } from '../errors.ts'

interface ComfortNoiseOptions {
  /** RMS level of white noise, -90 to -40 dBFS; default null: digital silence. */
  readonly levelDbfs?: number | null
  /** Seed of the noise generator. Default 1. */
  readonly seed?: number
}

/** Generates what is sent when nothing plays: digital silence, or noise of a fixed low level. */
export class ComfortNoise {
  /** Uniform noise of peak p has an RMS of p / sqrt(3). */
  readonly #peak: number
  #state: number

  /** Throws `MediaError` "invalid_noise_level" for a level outside -90 to -40 dBFS. */
  constructor(options: ComfortNoiseOptions = {}) {
    const level = options.levelDbfs ?? null
    if (level !== null && !(level >= -90 && level <= -40))
      throw new MediaError('invalid_noise_level', `Comfort noise of ${level} dBFS is outside -90 to -40.`)
    this.#peak = level === null ? 0 : 32768 * 10 ** (level / 20) * Math.sqrt(3)
    this.#state = options.seed ?? 1
  }

  write(dst: Int16Array, offset: number, count: Samples): void {
    if (this.#peak === 0) {
      dst.fill(0, offset, offset + count)
      return
    }
    for (let i = 0; i < count; i++) {
      // Linear congruential (Numerical Recipes): enough for noise, nothing hidden depends on it.
      this.#state = (Math.imul(this.#state, 1664525) + 1013904223) | 0
      dst[offset + i] = Math.round((this.#state / 0x8000_0000) * this.#peak)
    }
  }
}
