import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type SampleRateHz, type Samples } from '@parley/kernel'

/** 48.75 ms: three periods of the longest pitch and a quarter of one. */
export const PITCH_HISTORY_MS: Ms = 48.75
export const MIN_PITCH_MS: Ms = 5
const MAX_PITCH_MS: Ms = 15
/** The last 20 ms are matched with what came before. */
const MATCH_MS: Ms = 20

// Samples at the rate of the search.
const HISTORY = msToSamples(PITCH_HISTORY_MS, NARROWBAND)
const MIN_LAG = msToSamples(MIN_PITCH_MS, NARROWBAND)
const MAX_LAG = msToSamples(MAX_PITCH_MS, NARROWBAND)
/** Every other sample of the last 20 ms. */
const MATCHED = msToSamples(MATCH_MS, NARROWBAND) / 2
const FIRST_MATCHED = HISTORY / 2 - MATCHED
/** Lags whose products are summed in one loop; they are two samples apart. */
const LAGS_AT_ONCE = 4

const searches = new Map<SampleRateHz, PitchSearch>()

/** The search for audio of `format`. It keeps nothing between calls of `find`, so all sessions of a thread share it. */
export function pitchSearchFor(format: AudioFormat): PitchSearch {
  const known = searches.get(format.sampleRateHz) ?? new PitchSearch(format)
  searches.set(format.sampleRateHz, known)
  return known
}

/**
 * The pitch period with which audio repeats itself, by normalised cross-correlation of its last 20 ms (ITU-T G.711
 * Appendix I): every lag at 8 kHz with every other sample first, then all samples beside the best lag. Audio of higher
 * rates is reduced to 8 kHz for the first step.
 */
export class PitchSearch {
  /** Samples at the full rate for each at 8 kHz. */
  readonly #ratio: number
  readonly #samples: Float64Array
  /** The even and the odd samples at 8 kHz: neighbours in memory, as the sums need them. */
  readonly #even = new Float64Array(HISTORY / 2)
  readonly #odd = new Float64Array(HISTORY / 2)
  readonly #matches = new Float64Array(MAX_LAG + 2 * LAGS_AT_ONCE)

  constructor(format: AudioFormat) {
    this.#ratio = format.sampleRateHz / NARROWBAND.sampleRateHz
    this.#samples = new Float64Array(HISTORY * this.#ratio)
  }

  /** The pitch period at the end of `history`, which has 48.75 ms of 16-bit samples; from 5 to 15 ms. Allocates nothing. */
  find(history: Int16Array | Float32Array): Samples {
    this.#samples.set(history)
    this.#reduce()
    this.#matchLags(this.#even, MIN_LAG)
    this.#matchLags(this.#odd, MIN_LAG + 1)
    let best = MIN_LAG
    for (let lag = MIN_LAG + 1; lag <= MAX_LAG; lag++) if (this.#matches[lag]! > this.#matches[best]!) best = lag
    return this.#refine(best * this.#ratio)
  }

  #reduce(): void {
    const ratio = this.#ratio
    for (let i = 0; i < HISTORY; i += 2) {
      let even = 0
      let odd = 0
      for (let k = 0; k < ratio; k++) {
        even += this.#samples[i * ratio + k]!
        odd += this.#samples[(i + 1) * ratio + k]!
      }
      this.#even[i >> 1] = even
      this.#odd[i >> 1] = odd
    }
  }

  /**
   * Matches the even samples with `earlier`, the samples from `firstLag` on in steps of 2. Sums of products of 16-bit
   * samples are exact in any order, so several lags share a loop, and the energy of a lag follows from the one before.
   */
  #matchLags(earlier: Float64Array, firstLag: Samples): void {
    const recent = this.#even
    const matches = this.#matches
    let from = FIRST_MATCHED - ((firstLag + 1) >> 1)
    let energy = 1
    for (let i = 0; i < MATCHED; i++) energy += earlier[from + i]! * earlier[from + i]!
    for (let lag = firstLag; lag <= MAX_LAG; lag += 2 * LAGS_AT_ONCE) {
      let a = 0
      let b = 0
      let c = 0
      let d = 0
      for (let i = 0; i < MATCHED; i++) {
        const sample = recent[FIRST_MATCHED + i]!
        const at = from + i
        a += sample * earlier[at]!
        b += sample * earlier[at - 1]!
        c += sample * earlier[at - 2]!
        d += sample * earlier[at - 3]!
      }
      matches[lag] = a / Math.sqrt(energy)
      energy += gained(earlier, --from)
      matches[lag + 2] = b / Math.sqrt(energy)
      energy += gained(earlier, --from)
      matches[lag + 4] = c / Math.sqrt(energy)
      energy += gained(earlier, --from)
      matches[lag + 6] = d / Math.sqrt(energy)
      energy += gained(earlier, --from)
    }
  }

  /** The best lag within one sample of 8 kHz of `coarse`, with all samples at the full rate. */
  #refine(coarse: Samples): Samples {
    const ratio = this.#ratio
    const last = Math.min(MAX_LAG * ratio, coarse + ratio)
    let best = coarse
    let bestMatch = Number.NEGATIVE_INFINITY
    for (let lag = Math.max(MIN_LAG * ratio, coarse - ratio); lag <= last; lag++) {
      const match = this.#match(lag)
      if (match > bestMatch) {
        bestMatch = match
        best = lag
      }
    }
    return best
  }

  #match(lag: Samples): number {
    const samples = this.#samples
    let product = 0
    let energy = 1
    for (let i = samples.length - 2 * MATCHED * this.#ratio; i < samples.length; i++) {
      const earlier = samples[i - lag]!
      product += samples[i]! * earlier
      energy += earlier * earlier
    }
    return product / Math.sqrt(energy)
  }
}

/** What the energy of the matched stretch changes by when it moves one place back, to `from`. */
function gained(samples: Float64Array, from: number): number {
  const left = samples[from + MATCHED]!
  const entered = samples[from]!
  return entered * entered - left * left
}
