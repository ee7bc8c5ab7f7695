import type { Samples } from '@parley/kernel'

/** 48.75 ms: three periods of the longest pitch and a quarter of one. */
const HISTORY = 390
/** 5 to 15 ms. */
const MIN_PITCH = 40
const MAX_PITCH = 120
/** The pitch is searched by matching the last 20 ms. */
const MATCH = 160
/** 3.75 ms. */
const OVERLAP = 30
/** The overlap at the end grows by 4 ms for each 10 ms lost, to 10 ms. */
const OVERLAP_GROWTH = 32
const MAX_OVERLAP = 80
const STEP = 80
const MAX_PERIODS = 3
/** From 60 ms on it is silent. */
const MUTED_AFTER = 480
const FADE_PER_SAMPLE = 0.2 / STEP

/**
 * Packet-loss concealment after ITU-T G.711 Appendix I: repeats the last pitch period (from 10 ms on the last two, from
 * 20 ms on the last three), fades by 20 % per 10 ms after the first 10 ms and is silent from 60 ms on. In place of the
 * appendix's 3.75 ms delay, the step between the last sample heard and the repetition is carried over and decays.
 */
export class Concealment {
  /** Everything that was put out lately, the newest last. */
  readonly #history = new Int16Array(HISTORY)
  /** History as it was when the gap began. */
  readonly #source = new Float32Array(HISTORY)
  #active = false
  /** Samples put out in this gap. */
  #gap: Samples = 0
  #pitch = MIN_PITCH
  #periods = 1
  #phase = 0
  /** Repetition that is being faded out in favour of one with more periods. */
  #oldPeriods = 1
  #oldPhase = 0
  #crossfade = 0
  /** What the first repeated sample lacks to continue the last one heard. */
  #step = 0

  /** Tells it of `count` good samples; behind a gap their head is changed in place, so that it grows out of the concealment. */
  good(samples: Int16Array, offset: number, count: Samples): void {
    if (this.#active) {
      const overlap = Math.min(count, MAX_OVERLAP, OVERLAP + OVERLAP_GROWTH * Math.floor(this.#gap / STEP))
      for (let i = 0; i < overlap; i++) {
        const weight = (i + 1) / (overlap + 1)
        samples[offset + i] = Math.round(weight * samples[offset + i]! + (1 - weight) * this.#nextSample())
      }
      this.#active = false
    }
    this.#remember(samples, offset, count)
  }

  /** Writes `count` samples that continue what was heard; returns how many of them come before the mute. */
  conceal(dst: Int16Array, offset: number, count: Samples): Samples {
    if (!this.#active) this.#begin()
    const audible = Math.max(0, Math.min(count, MUTED_AFTER - this.#gap))
    for (let i = 0; i < count; i++) dst[offset + i] = this.#nextSample()
    this.#remember(dst, offset, count)
    return audible
  }

  /** Writes `count` samples of silence; after sound, its first 3.75 ms decay. */
  silence(dst: Int16Array, offset: number, count: Samples): void {
    const last = this.#history[HISTORY - 1]!
    const decay = Math.min(count, OVERLAP)
    for (let i = 0; i < decay; i++) dst[offset + i] = last * (1 - (i + 1) / decay)
    dst.fill(0, offset + decay, offset + count)
    this.#active = false
    this.#remember(dst, offset, count)
  }

  /** The next good samples do not continue the last ones (some were left out): blends them over 3.75 ms. */
  join(): void {
    if (!this.#active) this.#begin()
  }

  #begin(): void {
    this.#source.set(this.#history)
    this.#pitch = this.#findPitch()
    this.#active = true
    this.#gap = 0
    this.#periods = 1
    this.#phase = 0
    this.#crossfade = 0
    this.#step = this.#source[HISTORY - 1]! - this.#source[HISTORY - 1 - this.#pitch]!
  }

  #nextSample(): number {
    if (this.#gap >= MUTED_AFTER) return 0
    if (this.#gap > 0 && this.#gap % STEP === 0 && this.#periods < MAX_PERIODS) this.#addPeriod()
    let value = this.#repeated(this.#periods, this.#phase)
    if (this.#crossfade > 0) {
      const weight = this.#crossfade / (OVERLAP + 1)
      value = (1 - weight) * value + weight * this.#repeated(this.#oldPeriods, this.#oldPhase)
      this.#crossfade--
      this.#oldPhase = (this.#oldPhase + 1) % (this.#oldPeriods * this.#pitch)
    }
    if (this.#gap < OVERLAP) value += this.#step * (1 - this.#gap / OVERLAP)
    const gain = this.#gap < STEP ? 1 : 1 - FADE_PER_SAMPLE * (this.#gap - STEP)
    this.#gap++
    this.#phase = (this.#phase + 1) % (this.#periods * this.#pitch)
    return Math.max(-32768, Math.min(32767, Math.round(value * gain)))
  }

  /** Sample `phase` of the last `periods` pitch periods, whose last quarter period flows into their beginning. */
  #repeated(periods: number, phase: number): number {
    const length = periods * this.#pitch
    const value = this.#source[HISTORY - length + phase]!
    const quarter = this.#pitch >> 2
    const into = phase - (length - quarter)
    if (into < 0) return value
    const weight = (into + 1) / (quarter + 1)
    return (1 - weight) * value + weight * this.#source[HISTORY - 2 * length + phase]!
  }

  #addPeriod(): void {
    this.#oldPeriods = this.#periods
    this.#oldPhase = this.#phase
    this.#crossfade = OVERLAP
    this.#periods++
  }

  /** The lag at which the last 20 ms match best, by normalised cross-correlation: with every other sample first, then exactly beside the best. */
  #findPitch(): number {
    let best = MIN_PITCH
    let bestMatch = Number.NEGATIVE_INFINITY
    for (let lag = MIN_PITCH; lag <= MAX_PITCH; lag++) {
      const match = this.#match(lag, 2)
      if (match > bestMatch) {
        bestMatch = match
        best = lag
      }
    }
    const coarse = best
    bestMatch = Number.NEGATIVE_INFINITY
    for (let lag = Math.max(MIN_PITCH, coarse - 1); lag <= Math.min(MAX_PITCH, coarse + 1); lag++) {
      const match = this.#match(lag, 1)
      if (match > bestMatch) {
        bestMatch = match
        best = lag
      }
    }
    return best
  }

  #match(lag: number, stride: number): number {
    const source = this.#source
    let product = 0
    let energy = 1
    for (let i = HISTORY - MATCH; i < HISTORY; i += stride) {
      const earlier = source[i - lag]!
      product += source[i]! * earlier
      energy += earlier * earlier
    }
    return product / Math.sqrt(energy)
  }

  #remember(samples: Int16Array, offset: number, count: Samples): void {
    const kept = Math.min(count, HISTORY)
    this.#history.copyWithin(0, kept)
    const from = offset + count - kept
    for (let i = 0; i < kept; i++) this.#history[HISTORY - kept + i] = samples[from + i]!
  }
}
