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

/**
 * `gap`: samples of this gap that were generated so far. `old…`: the repetition that is being faded out in favour of one with
 * more periods. `step`: difference between the last sample heard and the first repeated one. `oldest`: where the history begins.
 */
export const ConcealmentWords = wordsClass(
  'active',
  'gap',
  'pitch',
  'periods',
  'phase',
  'oldPeriods',
  'oldPhase',
  'crossfade',
  'step',
  'oldest',
)

/** Where the concealment keeps its state; default memory of its own. */
export interface ConcealmentMemory {
  readonly state: Float64Array
  /** Exactly 48.75 ms of the format each. */
  readonly history: Int16Array
  readonly source: Float32Array
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
  /** The most recent output, a ring. */
  readonly #history: Int16Array
  /** History as it was when the gap began. */
  readonly #source: Float32Array
  readonly #state: InstanceType<typeof ConcealmentWords>

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
    this.#source = memory?.source ?? new Float32Array(this.#historySamples)
    this.#state.pitch = msToSamples(MIN_PITCH_MS, format)
    this.#state.periods = 1
    this.#state.oldPeriods = 1
    this.#state.oldest = 0
  }

  /**
   * Takes `count` samples of a received packet. After a gap it blends their beginning with the concealment, in place.
   */
  good(samples: Int16Array, offset: number, count: Samples): void {
    if (this.#state.active !== 0) {
      const overlap = Math.min(
        count,
        this.#maxOverlap,
        this.#overlap + this.#overlapGrowth * Math.floor(this.#state.gap / this.#stepSamples),
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
    const audible = Math.max(0, Math.min(count, this.#mutedAfter - this.#state.gap))
    for (let i = 0; i < count; i++) dst[offset + i] = this.#nextSample()
    this.#remember(dst, offset, count)
    return audible
  }

  /** Writes `count` samples of silence; after sound, its first 3.75 ms decay. */
  silence(dst: Int16Array, offset: number, count: Samples): void {
    const newest = this.#state.oldest === 0 ? this.#historySamples - 1 : this.#state.oldest - 1
    const last = this.#history[newest]!
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
    const { oldest } = this.#state
    this.#source.set(this.#history.subarray(oldest))
    this.#source.set(this.#history.subarray(0, oldest), this.#historySamples - oldest)
    this.#state.pitch = this.#search.find(this.#source)
    this.#state.active = 1
    this.#state.gap = 0
    this.#state.periods = 1
    this.#state.phase = 0
    this.#state.crossfade = 0
    this.#state.step =
      this.#source[this.#historySamples - 1]! - this.#source[this.#historySamples - 1 - this.#state.pitch]!
  }

  #nextSample(): number {
    if (this.#state.gap >= this.#mutedAfter) return 0
    if (this.#state.gap > 0 && this.#state.gap % this.#stepSamples === 0 && this.#state.periods < MAX_PERIODS)
      this.#addPeriod()
    let value = this.#repeated(this.#state.periods, this.#state.phase)
    if (this.#state.crossfade > 0) {
      const weight = this.#state.crossfade / (this.#overlap + 1)
      value = (1 - weight) * value + weight * this.#repeated(this.#state.oldPeriods, this.#state.oldPhase)
      this.#state.crossfade--
      this.#state.oldPhase = (this.#state.oldPhase + 1) % (this.#state.oldPeriods * this.#state.pitch)
    }
    if (this.#state.gap < this.#overlap) value += this.#state.step * (1 - this.#state.gap / this.#overlap)
    const gain =
      this.#state.gap < this.#stepSamples ? 1 : 1 - this.#fadePerSample * (this.#state.gap - this.#stepSamples)
    this.#state.gap++
    this.#state.phase = (this.#state.phase + 1) % (this.#state.periods * this.#state.pitch)
    return Math.max(-32768, Math.min(32767, Math.round(value * gain)))
  }

  /** Sample `phase` of the last `periods` pitch periods, whose last quarter period flows into their beginning. */
  #repeated(periods: number, phase: number): number {
    const length = periods * this.#state.pitch
    const value = this.#source[this.#historySamples - length + phase]!
    const quarter = this.#state.pitch >> 2
    const into = phase - (length - quarter)
    if (into < 0) return value
    const weight = (into + 1) / (quarter + 1)
    return (1 - weight) * value + weight * this.#source[this.#historySamples - 2 * length + phase]!
  }

  #addPeriod(): void {
    this.#state.oldPeriods = this.#state.periods
    this.#state.oldPhase = this.#state.phase
    this.#state.crossfade = this.#overlap
    this.#state.periods++
  }

  #remember(samples: Int16Array, offset: number, count: Samples): void {
    const retained = Math.min(count, this.#historySamples)
    const from = offset + count - retained
    let at = this.#state.oldest
    for (let i = 0; i < retained; i++) {
      this.#history[at] = samples[from + i]!
      if (++at === this.#historySamples) at = 0
    }
    this.#state.oldest = at
  }
}
