import type { Samples } from '@parley/kernel'

/** The pitch, 60 to 400 Hz, is searched at 2 kHz first and then refined at 4 kHz. */
const COARSE = 4
const FINE = 2
const MIN_LAG = 5
const MAX_LAG = 33
/** 40 ms. */
const MATCH = 80
const VOICED_CORRELATION = 0.6
/** A shorter lag that correlates nearly as well as the best is preferred, since multiples of the period correlate too. */
const NEAR_MATCH = 0.9
const MIN_ENERGY = 1

/** Samples of one estimate: 40 ms, compared with up to 16.5 ms before them. */
export const PITCH_WINDOW: Samples = (MATCH + MAX_LAG + 1) * COARSE

const coarse = new Float32Array(PITCH_WINDOW / COARSE)
const fine = new Float32Array(PITCH_WINDOW / FINE)
const correlations = new Float32Array(MAX_LAG + 1)

/** Pitch in Hz of `window` (`PITCH_WINDOW` samples at 8 kHz); null: it is not periodic. */
export function pitchOf(window: Int16Array): number | null {
  decimate(window, COARSE, coarse)
  correlate()
  let best = 0
  for (let lag = MIN_LAG; lag < MAX_LAG; lag++) best = Math.max(best, peakAt(lag))
  if (best < VOICED_CORRELATION) return null
  const lag = firstPeak(best * NEAR_MATCH)
  decimate(window, FINE, fine)
  return 8000 / FINE / refined(lag * (COARSE / FINE))
}

/** The shortest lag with a correlation peak of at least `enough`. */
function firstPeak(enough: number): number {
  for (let lag = MIN_LAG; lag < MAX_LAG; lag++) if (peakAt(lag) >= enough) return lag
  return MAX_LAG
}

/** Height of the correlation peak at `lag`, interpolated by a parabola; 0: there is no peak. */
function peakAt(lag: number): number {
  const [before, at, after] = [correlations[lag - 1]!, correlations[lag]!, correlations[lag + 1]!]
  if (at < before || at < after) return 0
  const bend = 2 * at - before - after
  return bend > 0 ? at + (after - before) ** 2 / (8 * bend) : at
}

/** Computes the correlations of `coarse` at all lags; the energy of each window is derived from the previous one. */
function correlate(): void {
  const from = coarse.length - MATCH
  let energy = MIN_ENERGY
  let earlier = MIN_ENERGY
  for (let i = from; i < coarse.length; i++) energy += coarse[i]! * coarse[i]!
  for (let i = from - MIN_LAG + 1; i < coarse.length - MIN_LAG + 1; i++) earlier += coarse[i]! * coarse[i]!
  for (let lag = MIN_LAG - 1; lag <= MAX_LAG; lag++) {
    let product = 0
    for (let i = from; i < coarse.length; i++) product += coarse[i]! * coarse[i - lag]!
    correlations[lag] = product / Math.sqrt(energy * Math.max(earlier, MIN_ENERGY))
    const entering = coarse[from - lag - 1]!
    const leaving = coarse[coarse.length - lag - 1]!
    earlier += entering * entering - leaving * leaving
  }
}

/** The best lag within two samples of `near`, interpolated by a parabola. Not normalised, since the energies hardly differ. */
function refined(near: number): number {
  let lag = near
  let best = Number.NEGATIVE_INFINITY
  for (let candidate = near - 2; candidate <= near + 2; candidate++) {
    const found = product(candidate)
    if (found <= best) continue
    best = found
    lag = candidate
  }
  const before = product(lag - 1)
  const after = product(lag + 1)
  const bend = before - 2 * best + after
  return bend < 0 ? lag + (before - after) / (2 * bend) : lag
}

/** Product of the last 40 ms of `fine` with the samples `lag` earlier. */
function product(lag: number): number {
  const from = fine.length - MATCH * (COARSE / FINE)
  let sum = 0
  for (let i = from; i < fine.length; i++) sum += fine[i]! * fine[i - lag]!
  return sum
}

/** Averages `factor` samples each and removes the mean, since a constant offset would correlate at every lag. */
function decimate(window: Int16Array, factor: number, into: Float32Array): void {
  let total = 0
  for (let i = 0; i < into.length; i++) {
    let sum = 0
    for (let j = 0; j < factor; j++) sum += window[i * factor + j]!
    into[i] = sum / factor
    total += sum / factor
  }
  const mean = total / into.length
  for (let i = 0; i < into.length; i++) into[i]! -= mean
}
