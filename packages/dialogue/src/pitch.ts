import type { Samples } from '@parley/kernel'

/** Looked for at 2 kHz first, 60 to 400 Hz, then to a fraction of a sample at 4 kHz. */
const COARSE = 4
const FINE = 2
const MIN_LAG = 5
const MAX_LAG = 33
/** 40 ms. */
const MATCH = 80
const VOICED_CORRELATION = 0.6
/** A shorter period that matches nearly as well is the true one: its multiples match, too. */
const NEARLY = 0.9
const LEAST_ENERGY = 1

/** Samples that one estimate looks at: 40 ms against up to 16.5 ms before them. */
export const PITCH_WINDOW: Samples = (MATCH + MAX_LAG + 1) * COARSE

const coarse = new Float32Array(PITCH_WINDOW / COARSE)
const fine = new Float32Array(PITCH_WINDOW / FINE)
const correlations = new Float32Array(MAX_LAG + 1)

/** Pitch in Hz of `window` (`PITCH_WINDOW` samples at 8 kHz); null where it does not repeat itself. */
export function pitchOf(window: Int16Array): number | null {
  decimate(window, COARSE, coarse)
  correlate()
  let best = 0
  for (let lag = MIN_LAG; lag < MAX_LAG; lag++) best = Math.max(best, peakAt(lag))
  if (best < VOICED_CORRELATION) return null
  const lag = firstPeak(best * NEARLY)
  decimate(window, FINE, fine)
  return 8000 / FINE / refined(lag * (COARSE / FINE))
}

/** The shortest lag that stands out among its neighbours and matches well enough. */
function firstPeak(enough: number): number {
  for (let lag = MIN_LAG; lag < MAX_LAG; lag++) if (peakAt(lag) >= enough) return lag
  return MAX_LAG
}

/** Height of the peak at or about `lag`, by a parabola: true periods lie between samples. 0: there is none. */
function peakAt(lag: number): number {
  const [before, at, after] = [correlations[lag - 1]!, correlations[lag]!, correlations[lag + 1]!]
  if (at < before || at < after) return 0
  const bend = 2 * at - before - after
  return bend > 0 ? at + (after - before) ** 2 / (8 * bend) : at
}

/** All lags of `coarse`, each window's energy from the one before it. */
function correlate(): void {
  const from = coarse.length - MATCH
  let energy = LEAST_ENERGY
  let earlier = LEAST_ENERGY
  for (let i = from; i < coarse.length; i++) energy += coarse[i]! * coarse[i]!
  for (let i = from - MIN_LAG + 1; i < coarse.length - MIN_LAG + 1; i++) earlier += coarse[i]! * coarse[i]!
  for (let lag = MIN_LAG - 1; lag <= MAX_LAG; lag++) {
    let product = 0
    for (let i = from; i < coarse.length; i++) product += coarse[i]! * coarse[i - lag]!
    correlations[lag] = product / Math.sqrt(energy * Math.max(earlier, LEAST_ENERGY))
    const entering = coarse[from - lag - 1]!
    const leaving = coarse[coarse.length - lag - 1]!
    earlier += entering * entering - leaving * leaving
  }
}

/** The best lag about `near`, between samples by a parabola. So close together the energies hardly differ. */
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

/** Of the last 40 ms of `fine` with what was `lag` earlier. */
function product(lag: number): number {
  const from = fine.length - MATCH * (COARSE / FINE)
  let sum = 0
  for (let i = from; i < fine.length; i++) sum += fine[i]! * fine[i - lag]!
  return sum
}

/** Means of `factor` samples each, without their own mean: direct current would correlate with itself. */
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
