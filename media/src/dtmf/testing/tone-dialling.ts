import { type Random, randomUint32 } from '@parley/kernel'
import { decodePcmu, encodePcmu } from '../../codec/g711.ts'
import { InBandDetector } from '../in-band-detector.ts'

const ROWS = [697, 770, 852, 941] as const
const COLUMNS = [1209, 1336, 1477, 1633] as const
export const KEYPAD = '123A456B789C*0#D'

export interface DialledTone {
  readonly digit: string
  readonly onMs: number
  /** Level of each tone, dBm0. */
  readonly lowDbm0?: number
  readonly highDbm0?: number
  /** Relative frequency error, 0.015 is 1.5 %. */
  readonly lowOff?: number
  readonly highOff?: number
}

/** Audio composed of tones, pauses and noise, levels in dBm0 (a full-scale sine is 3.14). */
export class ToneDialling {
  readonly #random: Random
  #samples: Float64Array

  constructor(seconds: number, random: Random) {
    this.#random = random
    this.#samples = new Float64Array(Math.round(seconds * 8000))
  }

  /** Uniform, 0 to 1. */
  uniform(): number {
    return randomUint32(this.#random) / 2 ** 32
  }

  /** Both tones begin at `atSample`, at phases of their own. */
  dial(atSample: number, tone: DialledTone): this {
    const at = KEYPAD.indexOf(tone.digit)
    const { lowDbm0 = -10, highDbm0 = -10, lowOff = 0, highOff = 0, onMs } = tone
    this.sine(atSample, onMs, ROWS[at >> 2]! * (1 + lowOff), lowDbm0)
    return this.sine(atSample, onMs, COLUMNS[at & 3]! * (1 + highOff), highDbm0)
  }

  sine(atSample: number, onMs: number, hz: number, dbm0: number): this {
    const amplitude = 32768 * 10 ** ((dbm0 - 3.14) / 20)
    const phase = 2 * Math.PI * this.uniform()
    const end = Math.min(this.#samples.length, atSample + Math.round(onMs * 8))
    for (let i = atSample; i < end; i++)
      this.#samples[i]! += amplitude * Math.sin((2 * Math.PI * hz * i) / 8000 + phase)
    return this
  }

  /** White Gaussian noise over all of it. */
  noise(dbm0: number): this {
    const rms = (32768 / Math.SQRT2) * 10 ** ((dbm0 - 3.14) / 20)
    for (let i = 0; i < this.#samples.length; i++) {
      const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()))
      this.#samples[i]! += rms * radius * Math.cos(2 * Math.PI * this.uniform())
    }
    return this
  }

  /** The audio after mu-law encoding and decoding. */
  audio(): Int16Array {
    const audio = Int16Array.from(this.#samples, x => Math.max(-32768, Math.min(32767, Math.round(x))))
    const line = new Uint8Array(audio.length)
    encodePcmu(audio, 0, audio.length, line, 0)
    decodePcmu(line, 0, line.length, audio, 0)
    return audio
  }
}

interface HeardDigit {
  readonly digit: string
  readonly position: number
  readonly durationMs: number
}

/** Digits that a detector finds in `audio`, which is passed in packets of 20 ms. */
export function heardIn(audio: Int16Array, detector = new InBandDetector()): HeardDigit[] {
  const heard: HeardDigit[] = []
  for (let at = 0; at < audio.length; at += 160) {
    detector.push(at, audio, at, Math.min(160, audio.length - at))
    while (detector.take()) {
      heard.push({ digit: detector.digit, position: detector.position, durationMs: detector.durationMs })
    }
  }
  return heard
}
