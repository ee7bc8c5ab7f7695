import { decodePcmu } from '../../codec/g711.ts'

/**
 * Audio whose samples identify their position: pseudo-random, never 0, and of values that mu-law transports unchanged.
 * Received audio can be compared bit by bit; a 0 is inserted silence.
 */
export function markedAudio(from: number, count: number, seed = 1): Int16Array {
  const bytes = new Uint8Array(count)
  for (let i = 0; i < count; i++) bytes[i] = markByte(from + i, seed)
  const audio = new Int16Array(count)
  decodePcmu(bytes, 0, count, audio, 0)
  return audio
}

/** Any mu-law byte but the two zeros (0x7f, 0xff). */
function markByte(position: number, seed: number): number {
  let x = Math.imul(position ^ Math.imul(seed, 0x9e3779b1), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  const value = ((x ^ (x >>> 16)) >>> 0) % 254
  return value < 0x7f ? value : value + 1
}

/** Where silence begins in mid-sound, the receiver lets the last sample decay for 3.75 ms. */
const DECAY_SAMPLES = 30

/** Follows marked audio as it is heard: counts the samples, the silence between them, and where it first went wrong. */
export class MarkedListener {
  /** Samples of marked audio heard, in order and unchanged. */
  heard = 0
  /** Runs of silence after the first sample: how many, and how long in all. */
  gaps = 0
  gapSamples = 0
  /** `heard` at the first sample that was neither the next one nor silence; -1: none. */
  brokenAt = -1
  readonly #seed: number
  #silent = true
  #pending = 0
  #decaying = 0

  constructor(seed = 1) {
    this.#seed = seed
  }

  hear(audio: Int16Array, count = audio.length): void {
    const expected = markedAudio(this.heard, count, this.#seed)
    let used = 0
    for (let i = 0; i < count; i++) {
      const sample = audio[i]!
      if (sample === expected[used] && this.#decaying === 0) {
        if (this.#silent && this.heard > 0) {
          this.gaps++
          this.gapSamples += this.#pending
        }
        this.#silent = false
        this.#pending = 0
        used++
        this.heard++
        continue
      }
      this.#pending++
      if (sample === 0) {
        this.#silent = true
        this.#decaying = 0
      } else if (++this.#decaying > DECAY_SAMPLES || this.#silent) {
        if (this.brokenAt < 0) this.brokenAt = this.heard
        return
      }
    }
  }
}
