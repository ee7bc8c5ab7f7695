import { type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { SPECTRUM_WINDOW, ToneSpectrum } from './tone-spectrum.ts'

/** 20 ms between two frames, each the spectrum of a window. */
const HOP: Samples = 160
const RING: Samples = 1024
/** Between tones only one frame in this many is measured: a tone has `MIN_FRAMES`, so the others are measured once that one is tonal. */
const IDLE_STRIDE = 4

/** A frame is tonal if one peak holds this share of its power and the rest looks like noise, or if two peaks do together. */
const SINGLE_SHARE = 0.62
const PURE_SHARE = 0.96
const DOUBLE_SHARE = 0.85
/** Share of a tone's frames that are pure, in a pure tone. */
const PURE_FRAMES = 0.75
const SECOND_SHARE = 0.12
/** The strongest peak of noise holds at most this share of its power; harmonics of a voice hold more. */
const NOISE_PEAK_SHARE = 0.2
/** Frequencies of two harmonics of a voice, as a ratio; those of double tones differ from them. */
const HARMONIC_RATIOS = [2, 1.5, 3] as const
const RATIO_TOLERANCE = 0.03
const LOWEST_LEVEL_DB = -45
const LOWEST_HZ = 370
const HIGHEST_HZ = 2250
/** How far frequency and level of a tone move between frames. */
const DRIFT_HZ = 14
const DRIFT_DB = 4
/** Frames that make a tone, with the window 120 ms and more. */
const MIN_FRAMES = 5
/** Frames without the tone after which it is over. */
const MAX_GAP = 2
/** Fall of the tone's level at its end by which it differs from a note of music that passes into the next. */
const END_FALL_DB = 4

/** ITU-T E.180: the three tones of "special information", each with its two usual frequencies, Hz. */
const SIT_TONES = [
  [913.8, 985.2],
  [1370.6, 1428.5],
  [1776.7, 1776.7],
] as const
/** Tones in order that prove special information; the third follows. */
const SIT_PROOF = 2
const SIT_TOLERANCE_HZ = 24
const SIT_GAP_MS: Ms = 120
/** ITU-T T.30: the calling tone (CNG), and the answering tone (CED). */
const CNG_HZ = 1100
const CED_HZ = 2100
const FAX_TOLERANCE_HZ = 30
const CNG_MS: Ms = 400
const CED_MS: Ms = 220
/** ITU-T E.180: ringing tones are between 400 and 500 Hz, one or two of them, for 0.67 to 2.5 s. */
const RINGBACK_LOW_HZ = 390
const RINGBACK_HIGH_HZ = 490
const RINGBACK_MS: Ms = 640

/**
 * What `take` returns. `tone-started` and `tone-ended`: a single or double tone between 370 and 2250 Hz of at least 130 ms, as of a
 * mailbox. The others classify a tone that goes on, or the last of three.
 */
export type CallToneEvent = 'tone-started' | 'tone-ended' | 'sit' | 'ringback' | 'fax'

const QUEUE = 8

/**
 * Finds tones of a phone network in 8 kHz audio: beeps, special information tones (SIT), ringing and fax. Speech and music have no
 * peak that keeps its frequency and level for `MIN_FRAMES` and then stops. After `push`, drain `take`. Allocates nothing after construction.
 */
export class CallTones {
  /** Of the event that `take` returned last: where the tone began or ended on the sample clock, and its frequency. */
  position: Samples = 0
  hz = 0
  /** With `tone-ended`: nothing followed the tone at once, as after a beep; in music the next note does. */
  isIsolated = false
  /** With `tone-ended`: nearly all power was in one peak, more than in a vowel. */
  isPure = false

  readonly #spectrum = new ToneSpectrum()
  readonly #ring = new Int16Array(RING)
  #next: Samples = 0
  /** Frames since the last one that was measured. */
  #skipped = 0
  #validFrom: Samples = 0
  /** The current run of frames with one frequency. */
  #runHz = 0
  #runDb = 0
  #frames = 0
  #pureFrames = 0
  #gap = 0
  #runFrom: Samples = 0
  #runUntil: Samples = 0
  #started = false
  #classified = false
  /** Loudest peak in the frames after the tone, dB. */
  #afterDb = -120
  /** How many SIT tones were heard in order, and where the last one ended. */
  #sitTones = 0
  #sitUntil: Samples = Number.NEGATIVE_INFINITY

  readonly #types: CallToneEvent[] = new Array(QUEUE).fill('sit')
  readonly #positions = new Float64Array(QUEUE)
  readonly #frequencies = new Float64Array(QUEUE)
  readonly #isolated = new Uint8Array(QUEUE)
  readonly #pure = new Uint8Array(QUEUE)
  #head = 0
  #tail = 0

  /** `position`: that of `audio[offset]` on the sample clock; a jump ends the current tone. */
  push(position: Samples, audio: Int16Array, offset: number, count: Samples): void {
    if (position !== this.#next) {
      this.#endRun(false)
      this.#next = position
      this.#validFrom = position
      this.#skipped = 0
    }
    for (let i = 0; i < count; i++) {
      this.#ring[this.#next & (RING - 1)] = audio[offset + i]!
      this.#next++
      if (this.#next % HOP === 0 && this.#next - this.#validFrom >= SPECTRUM_WINDOW) this.#onFrame()
    }
  }

  take(): CallToneEvent | null {
    if (this.#head === this.#tail) return null
    const i = this.#head++ & (QUEUE - 1)
    this.position = this.#positions[i]!
    this.hz = this.#frequencies[i]!
    this.isIsolated = this.#isolated[i] === 1
    this.isPure = this.#pure[i] === 1
    return this.#types[i]!
  }

  #onFrame(): void {
    if (this.#frames > 0) return this.#measure(this.#next)
    if (++this.#skipped < IDLE_STRIDE) return
    const skipped = this.#skipped - 1
    this.#skipped = 0
    this.#spectrum.measure(this.#ring, (this.#next - SPECTRUM_WINDOW) & (RING - 1))
    if (!this.#isTonal()) return
    for (let frame = skipped; frame >= 0; frame--) this.#measure(this.#next - frame * HOP)
  }

  /** `until`: end of the frame's window. */
  #measure(until: Samples): void {
    const from = until - SPECTRUM_WINDOW
    const spectrum = this.#spectrum
    spectrum.measure(this.#ring, from & (RING - 1))
    if (this.#frames > 0 && this.#continues()) return this.#extend(until)
    if (this.#started && this.#gap < MAX_GAP) {
      this.#gap++
      this.#afterDb = Math.max(this.#afterDb, this.#gap === MAX_GAP ? spectrum.peakDb : -120)
      if (this.#gap < MAX_GAP) return
    }
    this.#endRun(this.#afterDb < this.#runDb - END_FALL_DB)
    if (!this.#isTonal()) return
    this.#frames = 1
    this.#pureFrames = spectrum.share >= PURE_SHARE ? 1 : 0
    this.#runHz = spectrum.hz
    this.#runDb = spectrum.peakDb
    this.#runFrom = from
    this.#runUntil = until
  }

  #isTonal(): boolean {
    const { levelDb, hz, share, secondShare } = this.#spectrum
    if (levelDb < LOWEST_LEVEL_DB || hz < LOWEST_HZ || hz > HIGHEST_HZ) return false
    if (share >= PURE_SHARE) return true
    if (share >= SINGLE_SHARE && secondShare <= NOISE_PEAK_SHARE * (1 - share)) return true
    return secondShare >= SECOND_SHARE && share + secondShare >= DOUBLE_SHARE && !this.#isHarmonic()
  }

  #isHarmonic(): boolean {
    const { hz, secondHz } = this.#spectrum
    const ratio = Math.max(hz, secondHz) / Math.min(hz, secondHz)
    return HARMONIC_RATIOS.some(harmonic => Math.abs(ratio / harmonic - 1) <= RATIO_TOLERANCE)
  }

  #continues(): boolean {
    const { hz, secondHz, peakDb } = this.#spectrum
    if (!this.#isTonal() || Math.abs(peakDb - this.#runDb) > DRIFT_DB) return false
    // Of a double tone either peak may be the stronger.
    return Math.abs(hz - this.#runHz) <= DRIFT_HZ || Math.abs(secondHz - this.#runHz) <= DRIFT_HZ
  }

  #extend(until: Samples): void {
    const from = until - SPECTRUM_WINDOW
    const { hz, peakDb, share } = this.#spectrum
    this.#frames++
    if (share >= PURE_SHARE) this.#pureFrames++
    this.#gap = 0
    this.#afterDb = -120
    this.#runUntil = until
    if (Math.abs(hz - this.#runHz) <= DRIFT_HZ) {
      this.#runHz += (hz - this.#runHz) / Math.min(this.#frames, 8)
      this.#runDb += (peakDb - this.#runDb) / Math.min(this.#frames, 8)
    }
    if (this.#frames === 2) this.#runFrom = from - HOP + SPECTRUM_WINDOW / 4
    if (this.#frames >= MIN_FRAMES && !this.#started) {
      this.#started = true
      this.#emit('tone-started', this.#runFrom, false)
      this.#countSit()
    }
    if (this.#started && !this.#classified) this.#classify()
  }

  #classify(): void {
    const lasted = (this.#runUntil - this.#runFrom) / 8
    const is = (hz: number) => Math.abs(this.#runHz - hz) <= FAX_TOLERANCE_HZ
    if ((is(CED_HZ) && lasted >= CED_MS) || (is(CNG_HZ) && lasted >= CNG_MS)) return this.#classifyAs('fax')
    if (this.#runHz >= RINGBACK_LOW_HZ && this.#runHz <= RINGBACK_HIGH_HZ && lasted >= RINGBACK_MS)
      this.#classifyAs('ringback')
  }

  #classifyAs(type: CallToneEvent): void {
    this.#classified = true
    this.#emit(type, this.#runFrom, false)
  }

  #countSit(): void {
    const isNext = this.#runFrom - this.#sitUntil <= msToSamples(SIT_GAP_MS, NARROWBAND)
    const heard = isNext ? this.#sitTones : 0
    const expected = SIT_TONES[heard] ?? SIT_TONES[0]
    const matches = expected.some(hz => Math.abs(hz - this.#runHz) <= SIT_TOLERANCE_HZ)
    this.#sitTones = matches ? heard + 1 : 0
    if (this.#sitTones < SIT_PROOF) return
    this.#sitTones = 0
    this.#classifyAs('sit')
  }

  #endRun(isIsolated: boolean): void {
    if (this.#started) {
      this.#emit('tone-ended', this.#runUntil - SPECTRUM_WINDOW / 4, isIsolated)
      this.#sitUntil = this.#runUntil
    }
    this.#frames = 0
    this.#gap = 0
    this.#afterDb = -120
    this.#started = false
    this.#classified = false
  }

  #emit(type: CallToneEvent, position: Samples, isIsolated: boolean): void {
    const i = this.#tail++ & (QUEUE - 1)
    this.#types[i] = type
    this.#positions[i] = Math.max(0, position)
    this.#frequencies[i] = this.#runHz
    this.#isolated[i] = isIsolated ? 1 : 0
    this.#pure[i] = this.#pureFrames >= PURE_FRAMES * this.#frames ? 1 : 0
  }
}
