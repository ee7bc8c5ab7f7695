import type { Samples } from '@parley/kernel'
import { bessel0, sinc } from './windowed-sinc.ts'

/**
 * Share of the lower rate's half band that passes: 3400 Hz at 8 kHz. Frequencies at or above the half band would alias.
 */
const PASS_SHARE = 0.85
/** Attenuation of images and aliases, by Kaiser's formulas. */
const STOPBAND_DB = 66

export interface PolyphaseFilter {
  /** Output rate over input rate, in lowest terms: `up / down`. */
  readonly up: number
  readonly down: number
  readonly taps: number
  /** `up` sub-filters of `taps` coefficients, one after the other. */
  readonly coefficients: Float64Array
}

const filters = new Map<string, PolyphaseFilter>()

/**
 * Resamples mono 16-bit audio from `fromHz` to `toHz`: a linear-phase low-pass (Kaiser-windowed sinc; from 16 to 8 kHz
 * it passes 3400 Hz and stops 4000 Hz) in polyphase form. Without delay: sample n of the result is at the instant n /
 * `toHz` s of the input. Returns the samples from `start` to `end` of the result; default all. Throws a RangeError for
 * a rate that is no positive integer.
 */
export function resample(
  input: Int16Array,
  fromHz: number,
  toHz: number,
  start: Samples = 0,
  end?: Samples,
): Int16Array {
  if (fromHz === toHz) return input.subarray(start, end)
  const filter = filterFor(fromHz, toHz)
  const { up, down, taps } = filter
  const length = Math.floor((input.length * up) / down)
  const output = new Int16Array(Math.max(0, Math.min(end ?? length, length) - start))
  // Converted once: converting each sample where it is used takes longer than multiplying it.
  const samples = new Float64Array(input)
  const before = (taps - 1) >> 1
  for (let i = 0; i < output.length; i++) {
    const position = (start + i) * down
    const phase = position % up
    const first = (position - phase) / up - before
    const isInside = first >= 0 && first + taps <= input.length
    const sum = isInside ? filtered(filter, phase, samples, first) : atAnEnd(filter, phase, samples, first)
    output[i] = Math.max(-32_768, Math.min(32_767, Math.round(sum)))
  }
  return output
}

/**
 * Computes one output sample. The two sums are independent of each other, because most of the cost of resampling is
 * these loops.
 */
export function filtered(
  { taps, coefficients }: PolyphaseFilter,
  phase: number,
  input: Float64Array,
  first: number,
): number {
  const half = (taps - 1) >> 1
  let a = 0
  let b = 0
  if (phase === 0) {
    // The filter of phase 0 is symmetric: one multiplication serves two taps.
    const last = first + taps - 1
    for (let k = 0; k + 2 <= half; k += 2) {
      a += coefficients[k]! * (input[first + k]! + input[last - k]!)
      b += coefficients[k + 1]! * (input[first + k + 1]! + input[last - k - 1]!)
    }
    if (half % 2 === 1) a += coefficients[half - 1]! * (input[first + half - 1]! + input[last - half + 1]!)
  } else {
    const offset = phase * taps
    for (let k = 0; k < half; k++) {
      a += coefficients[offset + k]! * input[first + k]!
      b += coefficients[offset + taps - 1 - k]! * input[first + taps - 1 - k]!
    }
  }
  return a + b + coefficients[phase * taps + half]! * input[first + half]!
}

/** Near an end of the input; beyond it is silence. */
function atAnEnd({ taps, coefficients }: PolyphaseFilter, phase: number, input: Float64Array, first: number): number {
  const to = Math.min(taps, input.length - first)
  let sum = 0
  for (let k = Math.max(0, -first); k < to; k++) sum += coefficients[phase * taps + k]! * input[first + k]!
  return sum
}

/**
 * The input that one output sample needs: samples at most `reach` before and after its instant. Inputs that are cut at
 * multiples of `down` samples have the phases of the whole.
 */
export function resamplerReach(
  fromHz: number,
  toHz: number,
): { readonly reach: number; readonly up: number; readonly down: number } {
  const { up, down, taps } = filterFor(fromHz, toHz)
  return { reach: ((taps - 1) >> 1) + 1, up, down }
}

export function filterFor(fromHz: number, toHz: number): PolyphaseFilter {
  const key = `${fromHz} to ${toHz}`
  const known = filters.get(key)
  if (known !== undefined) return known
  for (const rate of [fromHz, toHz]) {
    if (!Number.isInteger(rate) || rate < 1000)
      throw new RangeError(`${rate} Hz is no sample rate: it takes an integer from 1000`)
  }
  const divisor = greatestCommonDivisor(toHz, fromHz)
  const up = toHz / divisor
  const down = fromHz / divisor
  const stopHz = Math.min(fromHz, toHz) / 2
  const passHz = stopHz * PASS_SHARE
  const width = (2 * Math.PI * (stopHz - passHz)) / fromHz
  const half = Math.ceil((STOPBAND_DB - 7.95) / (2.285 * width) / 2)
  const taps = 2 * half + 1
  const filter = { up, down, taps, coefficients: design((passHz + stopHz) / 2 / fromHz, up, half) }
  filters.set(key, filter)
  return filter
}

/** `cutoff`: share of the input rate. */
function design(cutoff: number, up: number, half: number): Float64Array {
  const taps = 2 * half + 1
  const beta = 0.1102 * (STOPBAND_DB - 8.7)
  const coefficients = new Float64Array(up * taps)
  for (let phase = 0; phase < up; phase++) {
    let sum = 0
    for (let k = 0; k < taps; k++) {
      // Distance in input samples from the instant of this phase to tap k.
      const distance = k - half - phase / up
      const inside = 1 - (distance / (half + 1)) ** 2
      const value = sinc(2 * cutoff * distance) * bessel0(beta * Math.sqrt(Math.max(0, inside)))
      coefficients[phase * taps + k] = value
      sum += value
    }
    // Every phase passes a constant unchanged, or the phases themselves would be heard as a tone.
    for (let k = 0; k < taps; k++) coefficients[phase * taps + k]! /= sum
  }
  return coefficients
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
