import { wordsClass } from '../page/words.ts'
import { decibels } from './decibels.ts'

/** Frames of 10 ms. */
const FRAME = 80
/** Tone pairs are searched in 20 ms. */
const WINDOW = 2 * FRAME
/** The pitch is searched at 2 kHz: 30 ms are compared with themselves 2.5 to 16.5 ms earlier (60 to 400 Hz). */
const DECIMATION = 4
const DECIMATED_FRAME = FRAME / DECIMATION
const MATCH = 60
const MIN_LAG = 5
const MAX_LAG = 33
export const DECIMATED_WINDOW = 100
const DECIMATED_FRAMES = DECIMATED_WINDOW / DECIMATED_FRAME
const VOICED_CORRELATION = 0.6
/** A one-pole high-pass at 127 Hz: takes direct current and mains hum out of all cues. */
const HIGH_PASS = 0.9
const HIGH_PASS_2 = HIGH_PASS * HIGH_PASS
const HIGH_PASS_4 = HIGH_PASS_2 * HIGH_PASS_2
/** After digital silence the high-pass would go on with ever smaller numbers, which processors compute slowly. */
const SMALLEST_OUT = 1e-15
const SILENCE_DB = -100
const SILENCE_ENERGY = 1e-10

/** Goertzel's coefficients of the tones, rows first. */
export const DTMF_COEFFICIENTS = Float64Array.of(697, 770, 852, 941, 1209, 1336, 1477, 1633).map(coefficient)
const DTMF_ROWS = DTMF_COEFFICIENTS.subarray(0, 4)
const DTMF_COLUMNS = DTMF_COEFFICIENTS.subarray(4)
/** The two tones together have this share of the energy, and each has at least that much. */
const DTMF_SHARE = 0.8
const DTMF_EACH = 0.1

/** `level`: of the last frame, dBFS. `oldest`: which of the five frames of `decimated` is the oldest. */
export const CueWords = wordsClass('level', 'lastIn', 'lastOut', 'oldest')

/** Where the features keep their state; default memory of its own. */
export interface CueMemory {
  readonly state: Float64Array
  /** The last frame behind the high-pass, 80 samples. */
  readonly last: Float32Array
  /** The last five frames at 2 kHz, each at the place of the one that it replaced: 100 samples. */
  readonly decimated: Float32Array
}

/** The last two frames behind the high-pass, from `push` to the questions about it; none is kept from one call to the next. */
const window = new Float32Array(WINDOW)
/** The last five frames at 2 kHz in their order. */
const inOrder = new Float32Array(DECIMATED_WINDOW)

/**
 * Features of a frame for voice activity: level, voiced or not, tone pair or not. The level is computed for each frame,
 * the others on request.
 */
export class VoiceCues {
  readonly #state: InstanceType<typeof CueWords>
  readonly #last: Float32Array
  readonly #decimated: Float32Array

  constructor(memory?: CueMemory) {
    this.#state = new CueWords(memory?.state)
    this.#state.level = SILENCE_DB
    this.#state.lastIn = 0
    this.#state.lastOut = 0
    this.#state.oldest = 0
    this.#last = (memory?.last ?? new Float32Array(FRAME)).fill(0)
    this.#decimated = (memory?.decimated ?? new Float32Array(DECIMATED_WINDOW)).fill(0)
  }

  /** Level of the last frame, dBFS. */
  get level(): number {
    return this.#state.level
  }

  /**
   * One frame of 80 samples, -1 to 1. The high-pass, out = in - last in + 0.9 last out, is computed over four samples, each from the output four
   * before it, so that the native layer computes four at once, to the same bit.
   */
  push(frame: Float32Array): void {
    window.set(this.#last)
    const decimatedAt = DECIMATED_FRAME * this.#state.oldest
    this.#state.oldest = (this.#state.oldest + 1) % DECIMATED_FRAMES
    let lastIn = this.#state.lastIn
    const lastOut = this.#state.lastOut
    let [out0, out1, out2, out3] = [
      lastOut / (HIGH_PASS_2 * HIGH_PASS),
      lastOut / HIGH_PASS_2,
      lastOut / HIGH_PASS,
      lastOut,
    ]
    // The last difference, and the last two sums of a difference with the one before; those of the frame before are in `lastOut`.
    let [difference, sum2, sum3] = [0, 0, 0]
    let [energy0, energy1, energy2, energy3] = [0, 0, 0, 0]
    for (let i = 0; i < FRAME; i += DECIMATION) {
      const difference0 = frame[i]! - lastIn
      const difference1 = frame[i + 1]! - frame[i]!
      const difference2 = frame[i + 2]! - frame[i + 1]!
      lastIn = frame[i + 3]!
      const difference3 = lastIn - frame[i + 2]!
      const sum0 = difference0 + HIGH_PASS * difference
      const sum1 = difference1 + HIGH_PASS * difference0
      out0 = sum0 + HIGH_PASS_2 * sum2 + HIGH_PASS_4 * out0
      out1 = sum1 + HIGH_PASS_2 * sum3 + HIGH_PASS_4 * out1
      sum2 = difference2 + HIGH_PASS * difference1
      sum3 = difference3 + HIGH_PASS * difference2
      difference = difference3
      out2 = sum2 + HIGH_PASS_2 * sum0 + HIGH_PASS_4 * out2
      out3 = sum3 + HIGH_PASS_2 * sum1 + HIGH_PASS_4 * out3
      energy0 += out0 * out0
      energy1 += out1 * out1
      energy2 += out2 * out2
      energy3 += out3 * out3
      this.#last[i] = out0
      this.#last[i + 1] = out1
      this.#last[i + 2] = out2
      this.#last[i + 3] = out3
      this.#decimated[decimatedAt + i / DECIMATION] = out0 + out1 + (out2 + out3)
    }
    window.set(this.#last, WINDOW - FRAME)
    const energy = energy0 + energy1 + (energy2 + energy3)
    this.#state.lastIn = lastIn
    this.#state.lastOut = Math.abs(out3) < SMALLEST_OUT ? 0 : out3
    this.#state.level = energy > SILENCE_ENERGY ? decibels(energy / FRAME) : SILENCE_DB
  }

  /** Whether the last 30 ms repeat themselves at a pitch of 60 to 400 Hz. */
  isVoiced(): boolean {
    const from = DECIMATED_WINDOW - MATCH
    const x = inOrder
    const oldestAt = DECIMATED_FRAME * this.#state.oldest
    x.set(this.#decimated.subarray(oldestAt))
    x.set(this.#decimated.subarray(0, oldestAt), DECIMATED_WINDOW - oldestAt)
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

  /**
   * Whether the last 20 ms are one DTMF row and one column and little else (Goertzel, ITU-T Q.23 frequencies). To be asked before another
   * call's frame is pushed.
   */
  isDtmf(): boolean {
    let energy = SILENCE_ENERGY
    for (let i = 0; i < WINDOW; i++) energy += window[i]! * window[i]!
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
    for (let i = 0; i < WINDOW; i++) {
      const s = window[i]! + c * s1 - s2
      s2 = s1
      s1 = s
    }
    return (2 / WINDOW) * (s1 * s1 + s2 * s2 - c * s1 * s2)
  }
}

function coefficient(frequency: number): number {
  return 2 * Math.cos((2 * Math.PI * frequency) / 8000)
}
