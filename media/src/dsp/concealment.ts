import { type AudioFormat, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
import { MIN_PITCH_MS, PITCH_HISTORY_MS, type PitchSearch, pitchSearchFor } from './pitch-search.ts'

const OVERLAP_MS = 3.75
/** The overlap at the end grows by 4 ms for each 10 ms lost, to 10 ms. */
const OVERLAP_GROWTH_MS = 4
const MAX_OVERLAP_MS = 10
const STEP_MS = 10
const MAX_PERIODS = 3
/** From 60 ms on it is silent. */
const MUTED_AFTER_MS = 60
const FADE_PER_STEP = 0.2

export const ConcealmentWords = wordsClass('active')

/** Where the concealment keeps its state; default memory of its own. */
export interface ConcealmentMemory {
  readonly state: Float64Array
  /** Exactly 48.75 ms of the format. */
  readonly history: Int16Array
}

/**
 * Packet-loss concealment after ITU-T G.711 Appendix I: repeats the last pitch period (from 10 ms on the last two, from
 * 20 ms on the last three), fades by 20 % per 10 ms after the first 10 ms and is silent from 60 ms on. In place of the
 * appendix's 3.75 ms delay, the step between the last sample heard and the repetition is carried over and decays.
 */
export class Concealment {
  readonly #historySamples: Samples
  readonly #search: PitchSearch
  readonly #overlap: Samples
  readonly #overlapGrowth: Samples
  readonly #maxOverlap: Samples
  readonly #stepSamples: Samples
  readonly #mutedAfter: Samples
  readonly #fadePerSample: number
  /** The most recent output, the newest sample last. */
  readonly #history: Int16Array
  /** History as it was when the gap began. */
  readonly #source: Float32Array
  readonly #state: InstanceType<typeof ConcealmentWords>
  /** Samples of this gap that were generated so far. */
  #gap: Samples = 0
  #pitch: Samples
  #periods = 1
  #phase = 0
  /** Repetition that is being faded out in favour of one with more periods. */
  #oldPeriods = 1
  #oldPhase = 0
  #crossfade = 0
  /** Difference between the last sample heard and the first repeated one. */
  #step = 0

  constructor(format: AudioFormat = NARROWBAND, memory?: ConcealmentMemory) {
    this.#historySamples = msToSamples(PITCH_HISTORY_MS, format)
    this.#search = pitchSearchFor(format)
    this.#overlap = msToSamples(OVERLAP_MS, format)
    this.#overlapGrowth = msToSamples(OVERLAP_GROWTH_MS, format)
    this.#maxOverlap = msToSamples(MAX_OVERLAP_MS, format)
    this.#stepSamples = msToSamples(STEP_MS, format)
    this.#mutedAfter = msToSamples(MUTED_AFTER_MS, format)
    this.#fadePerSample = FADE_PER_STEP / this.#stepSamples
    this.#history = memory?.history ?? new Int16Array(this.#historySamples)
    this.#state = new ConcealmentWords(memory?.state)
    this.#source = new Float32Array(this.#historySamples)
    this.#pitch = msToSamples(MIN_PITCH_MS, format)
  }

  /**
   * Takes `count` samples of a received packet. After a gap it blends their beginning with the concealment, in place.
   */
  good(samples: Int16Array, offset: number, count: Samples): void {
    if (this.#state.active !== 0) {
      const overlap = Math.min(
        count,
        this.#maxOverlap,
        this.#overlap + this.#overlapGrowth * Math.floor(this.#gap / this.#stepSamples),
      )
      for (let i = 0; i < overlap; i++) {
        const weight = (i + 1) / (overlap + 1)
        samples[offset + i] = Math.round(weight * samples[offset + i]! + (1 - weight) * this.#nextSample())
      }
      this.#state.active = 0
    }
    this.#remember(samples, offset, count)
  }

  /** Writes `count` samples that continue what was heard; returns how many of them come before the mute. */
  conceal(dst: Int16Array, offset: number, count: Samples): Samples {
    if (this.#state.active === 0) this.#begin()
    const audible = Math.max(0, Math.min(count, this.#mutedAfter - this.#gap))
    for (let i = 0; i < count; i++) dst[offset + i] = this.#nextSample()
    this.#remember(dst, offset, count)
    return audible
  }

  /** Writes `count` samples of silence; after sound, its first 3.75 ms decay. */
  silence(dst: Int16Array, offset: number, count: Samples): void {
    const last = this.#history[this.#historySamples - 1]!
    const decay = Math.min(count, this.#overlap)
    for (let i = 0; i < decay; i++) dst[offset + i] = last * (1 - (i + 1) / decay)
    dst.fill(0, offset + decay, offset + count)
    this.#state.active = 0
    this.#remember(dst, offset, count)
  }

  /** The next received samples do not continue the last ones (some were left out): `good` blends them over 3.75 ms. */
  join(): void {
    if (this.#state.active === 0) this.#begin()
  }

  #begin(): void {
    this.#source.set(this.#history)
    this.#pitch = this.#search.find(this.#history)
    this.#state.active = 1
    this.#gap = 0
    this.#periods = 1
    this.#phase = 0
    this.#crossfade = 0
    this.#step = this.#source[this.#historySamples - 1]! - this.#source[this.#historySamples - 1 - this.#pitch]!
  }

  #nextSample(): number {
    if (this.#gap >= this.#mutedAfter) return 0
    if (this.#gap > 0 && this.#gap % this.#stepSamples === 0 && this.#periods < MAX_PERIODS) this.#addPeriod()
    let value = this.#repeated(this.#periods, this.#phase)
    if (this.#crossfade > 0) {
      const weight = this.#crossfade / (this.#overlap + 1)
      value = (1 - weight) * value + weight * this.#repeated(this.#oldPeriods, this.#oldPhase)
      this.#crossfade--
      this.#oldPhase = (this.#oldPhase + 1) % (this.#oldPeriods * this.#pitch)
    }
    if (this.#gap < this.#overlap) value += this.#step * (1 - this.#gap / this.#overlap)
    const gain = this.#gap < this.#stepSamples ? 1 : 1 - this.#fadePerSample * (this.#gap - this.#stepSamples)
    this.#gap++
    this.#phase = (this.#phase + 1) % (this.#periods * this.#pitch)
    return Math.max(-32768, Math.min(32767, Math.round(value * gain)))
  }

  /** Sample `phase` of the last `periods` pitch periods, whose last quarter period flows into their beginning. */
  #repeated(periods: number, phase: number): number {
    const length = periods * this.#pitch
    const value = this.#source[this.#historySamples - length + phase]!
    const quarter = this.#pitch >> 2
    const into = phase - (length - quarter)
    if (into < 0) return value
    const weight = (into + 1) / (quarter + 1)
    return (1 - weight) * value + weight * this.#source[this.#historySamples - 2 * length + phase]!
  }

  #addPeriod(): void {
    this.#oldPeriods = this.#periods
    this.#oldPhase = this.#phase
    this.#crossfade = this.#overlap
    this.#periods++
  }

  #remember(samples: Int16Array, offset: number, count: Samples): void {
    const retained = Math.min(count, this.#historySamples)
    this.#history.copyWithin(0, retained)
    const from = offset + count - retained
    for (let i = 0; i < retained; i++) this.#history[this.#historySamples - retained + i] = samples[from + i]!
  }
}
