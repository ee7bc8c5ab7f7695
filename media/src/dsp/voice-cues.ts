import { wordsClass } from '../page/words.ts'
import { decibels } from './decibels.ts'

/** Frames of 10 ms. */
const FRAME = 80
/** Tone pairs are searched in 20 ms. */
export const VOICE_WINDOW = 160
/** The pitch is searched at 2 kHz: 30 ms are compared with themselves 2.5 to 16.5 ms earlier (60 to 400 Hz). */
const DECIMATION = 4
const DECIMATED_FRAME = FRAME / DECIMATION
const MATCH = 60
const MIN_LAG = 5
const MAX_LAG = 33
export const DECIMATED_WINDOW = 100
const VOICED_CORRELATION = 0.6
/** A one-pole high-pass at 127 Hz: takes direct current and mains hum out of all cues. */
const HIGH_PASS = 0.9
const SILENCE_DB = -100
const SILENCE_ENERGY = 1e-10

/** Goertzel's coefficients of the tones, rows first. */
export const DTMF_COEFFICIENTS = Float64Array.of(697, 770, 852, 941, 1209, 1336, 1477, 1633).map(coefficient)
const DTMF_ROWS = DTMF_COEFFICIENTS.subarray(0, 4)
const DTMF_COLUMNS = DTMF_COEFFICIENTS.subarray(4)
/** The two tones together have this share of the energy, and each has at least that much. */
const DTMF_SHARE = 0.8
const DTMF_EACH = 0.1

/** `level`: of the last frame, dBFS. */
export const CueWords = wordsClass('level', 'lastIn', 'lastOut')

/** Where the features keep their state; default memory of its own. */
export interface CueMemory {
  readonly state: Float64Array
  readonly window: Float32Array
  readonly decimated: Float32Array
}

/**
 * Features of a frame for voice activity: level, voiced or not, tone pair or not. The level is computed for each frame,
 * the others on request.
 */
export class VoiceCues {
  readonly #state: InstanceType<typeof CueWords>
  readonly #window: Float32Array
  readonly #decimated: Float32Array

  constructor(memory?: CueMemory) {
    this.#state = new CueWords(memory?.state)
    this.#state.level = SILENCE_DB
    this.#state.lastIn = 0
    this.#state.lastOut = 0
    this.#window = (memory?.window ?? new Float32Array(VOICE_WINDOW)).fill(0)
    this.#decimated = (memory?.decimated ?? new Float32Array(DECIMATED_WINDOW)).fill(0)
  }

  /** Level of the last frame, dBFS. */
  get level(): number {
    return this.#state.level
  }

  /** One frame of 80 samples, -1 to 1. */
  push(frame: Float32Array): void {
    this.#window.copyWithin(0, FRAME)
    this.#decimated.copyWithin(0, DECIMATED_FRAME)
    let lastIn = this.#state.lastIn
    let out = this.#state.lastOut
    let energy = 0
    for (let i = 0; i < DECIMATED_FRAME; i++) {
      let sum = 0
      for (let j = i * DECIMATION; j < (i + 1) * DECIMATION; j++) {
        out = frame[j]! - lastIn + HIGH_PASS * out
        lastIn = frame[j]!
        this.#window[VOICE_WINDOW - FRAME + j] = out
        energy += out * out
        sum += out
      }
      this.#decimated[DECIMATED_WINDOW - DECIMATED_FRAME + i] = sum
    }
    this.#state.lastIn = lastIn
    this.#state.lastOut = out
    this.#state.level = energy > SILENCE_ENERGY ? decibels(energy / FRAME) : SILENCE_DB
  }

  /** Whether the last 30 ms repeat themselves at a pitch of 60 to 400 Hz. */
  isVoiced(): boolean {
    const from = DECIMATED_WINDOW - MATCH
    const x = this.#decimated
    let energy = SILENCE_ENERGY
    let earlierEnergy = SILENCE_ENERGY
    for (let i = from; i < DECIMATED_WINDOW; i++) energy += x[i]! * x[i]!
    for (let i = from - MIN_LAG; i < DECIMATED_WINDOW - MIN_LAG; i++) earlierEnergy += x[i]! * x[i]!
    for (let lag = MIN_LAG; lag <= MAX_LAG; lag++) {
      let product = 0
      for (let i = from; i < DECIMATED_WINDOW; i++) product += x[i]! * x[i - lag]!
      if (product > 0 && product * product > VOICED_CORRELATION * VOICED_CORRELATION * energy * earlierEnergy)
        return true
      const entering = x[from - lag - 1]!
      const leaving = x[DECIMATED_WINDOW - lag - 1]!
      earlierEnergy = Math.max(SILENCE_ENERGY, earlierEnergy + entering * entering - leaving * leaving)
    }
    return false
  }

  /** Whether the last 20 ms are one DTMF row and one column and little else (Goertzel, ITU-T Q.23 frequencies). */
  isDtmf(): boolean {
    let energy = SILENCE_ENERGY
    for (let i = 0; i < VOICE_WINDOW; i++) energy += this.#window[i]! * this.#window[i]!
    const row = this.#strongest(DTMF_ROWS) / energy
    const column = this.#strongest(DTMF_COLUMNS) / energy
    return row + column > DTMF_SHARE && row > DTMF_EACH && column > DTMF_EACH
  }

  #strongest(coefficients: Float64Array): number {
    let strongest = 0
    for (let k = 0; k < coefficients.length; k++) strongest = Math.max(strongest, this.#toneEnergy(coefficients[k]!))
    return strongest
  }

  /** Energy of that frequency in the window (Goertzel). */
  #toneEnergy(c: number): number {
    let s1 = 0
    let s2 = 0
    for (let i = 0; i < VOICE_WINDOW; i++) {
      const s = this.#window[i]! + c * s1 - s2
      s2 = s1
      s1 = s
    }
    return (2 / VOICE_WINDOW) * (s1 * s1 + s2 * s2 - c * s1 * s2)
  }
}

function coefficient(frequency: number): number {
  return 2 * Math.cos((2 * Math.PI * frequency) / 8000)
}
