import type { Samples } from '@parley/kernel'
import { FourierTransform } from './fourier-transform.ts'

/** 64 ms at 8 kHz, long enough for the two tones of a ringing tone, 40 Hz apart; bins of 15.6 Hz. */
export const SPECTRUM_WINDOW: Samples = 512
const HALF = SPECTRUM_WINDOW / 2
const BIN_HZ = 8000 / SPECTRUM_WINDOW
/** Bins on either side of a peak that hold its energy under a Hann window. */
const PEAK_BINS = 2
const LOWEST_BIN = Math.ceil(250 / BIN_HZ)
const HIGHEST_BIN = Math.floor(2600 / BIN_HZ)
/** A quieter window, dB below full scale, is not transformed. */
const QUIET_DB = -50

/** Power spectrum of one window of 8 kHz audio and its two strongest peaks. Allocates nothing after construction. */
export class ToneSpectrum {
  /** Frequency of the strongest and of the second peak, Hz. */
  hz = 0
  secondHz = 0
  /** Share of the power between 250 and 2600 Hz that each peak holds, 0 to 1. */
  share = 0
  secondShare = 0
  /** Power of the strongest peak, and of the whole band, dB below full scale. */
  peakDb = -120
  levelDb = -120

  /** Transform of the even samples as real and the odd ones as imaginary parts. */
  readonly #re = new Float64Array(HALF)
  readonly #im = new Float64Array(HALF)
  readonly #power = new Float64Array(HALF)
  readonly #window = new Float64Array(SPECTRUM_WINDOW)
  readonly #cos = new Float64Array(HALF)
  readonly #sin = new Float64Array(HALF)
  readonly #transform = new FourierTransform(HALF)

  constructor() {
    for (let i = 0; i < SPECTRUM_WINDOW; i++) {
      this.#window[i] = (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SPECTRUM_WINDOW)) / 32768
    }
    for (let i = 0; i < HALF; i++) {
      this.#cos[i] = Math.cos((2 * Math.PI * i) / SPECTRUM_WINDOW)
      this.#sin[i] = Math.sin((2 * Math.PI * i) / SPECTRUM_WINDOW)
    }
  }

  /** Measures the window that begins at `start` of the ring `audio`, whose length is a power of two. */
  measure(audio: Int16Array, start: Samples): void {
    const mask = audio.length - 1
    let energy = 0
    for (let i = 0; i < HALF; i++) {
      const to = this.#transform.places[i]!
      const even = audio[(start + 2 * i) & mask]! * this.#window[2 * i]!
      const odd = audio[(start + 2 * i + 1) & mask]! * this.#window[2 * i + 1]!
      this.#re[to] = even
      this.#im[to] = odd
      energy += even * even + odd * odd
    }
    // Parseval: the bins of positive frequencies hold half of the energy, so no band is louder than this.
    const loudest = decibels((energy * SPECTRUM_WINDOW) / 2)
    if (loudest < QUIET_DB) return this.#quiet(loudest)
    this.#transform.run(this.#re, this.#im)
    let total = 1e-12
    for (let bin = LOWEST_BIN - 1; bin <= HIGHEST_BIN + 1; bin++) {
      const power = this.#powerAt(bin)
      this.#power[bin] = power
      if (bin >= LOWEST_BIN && bin <= HIGHEST_BIN) total += power
    }
    this.levelDb = decibels(total)
    const first = this.#strongest(-1)
    const power = this.#around(first)
    this.hz = this.#frequency(first)
    this.share = power / total
    this.peakDb = decibels(power)
    const second = this.#strongest(first)
    this.secondHz = this.#frequency(second)
    this.secondShare = this.#around(second) / total
  }

  #quiet(levelDb: number): void {
    this.hz = 0
    this.secondHz = 0
    this.share = 0
    this.secondShare = 0
    this.peakDb = levelDb
    this.levelDb = levelDb
  }

  /** Separates the spectra of the even and odd samples and joins them to that of the window. */
  #powerAt(bin: number): number {
    const re = this.#re[bin]!
    const im = this.#im[bin]!
    const mirroredRe = this.#re[HALF - bin]!
    const mirroredIm = this.#im[HALF - bin]!
    const oddRe = im + mirroredIm
    const oddIm = mirroredRe - re
    const c = this.#cos[bin]!
    const s = this.#sin[bin]!
    const sumRe = re + mirroredRe + oddRe * c + oddIm * s
    const sumIm = im - mirroredIm + oddIm * c - oddRe * s
    return (sumRe * sumRe + sumIm * sumIm) / 4
  }

  /** The strongest bin that is not part of the peak at `except`. */
  #strongest(except: number): number {
    let best = LOWEST_BIN
    let power = -1
    for (let bin = LOWEST_BIN; bin <= HIGHEST_BIN; bin++) {
      if (except >= 0 && Math.abs(bin - except) <= PEAK_BINS) continue
      if (this.#power[bin]! > power) {
        power = this.#power[bin]!
        best = bin
      }
    }
    return best
  }

  #around(bin: number): number {
    let sum = 0
    for (let i = Math.max(LOWEST_BIN, bin - PEAK_BINS); i <= Math.min(HIGHEST_BIN, bin + PEAK_BINS); i++)
      sum += this.#power[i]!
    return sum
  }

  /** Centre of the peak, by the parabola through the logarithms of three bins. */
  #frequency(bin: number): number {
    const low = Math.log(this.#power[bin - 1]! + 1e-20)
    const middle = Math.log(this.#power[bin]! + 1e-20)
    const high = Math.log(this.#power[bin + 1]! + 1e-20)
    const curve = low - 2 * middle + high
    const offset = curve === 0 ? 0 : (0.5 * (low - high)) / curve
    return (bin + Math.max(-0.5, Math.min(0.5, offset))) * BIN_HZ
  }
}

function decibels(power: number): number {
  // A sine of full amplitude has the power (N / 4)^2 in each of its two bins of a Hann window, 3/8 N^2 / 4 in all.
  return 10 * Math.log10((power + 1e-20) / (SPECTRUM_WINDOW ** 2 * 0.09375))
}
