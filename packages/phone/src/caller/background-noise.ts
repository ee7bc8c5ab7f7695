import { type Random, randomUint32 } from '@parley/kernel'

export type NoiseKind = 'room' | 'car' | 'street' | 'babble' | 'music'

const RATE = 8000
/** Two seconds of noise are generated and repeated. */
const LOOP = 2 * RATE
const VOICES = 6
/** Hz. */
const CHORD = [220, 277.2, 329.6, 440] as const

/** A loop of background noise of one kind at a constant level. */
export class BackgroundNoise {
  readonly #loop: Float32Array
  #at = 0

  /** `amplitude`: root mean square in samples of 16 bits. */
  constructor(kind: NoiseKind, amplitude: number, random: Random) {
    const loop = GENERATORS[kind](random)
    const level = Math.sqrt(loop.reduce((sum, value) => sum + value * value, 0) / loop.length)
    this.#loop = loop.map(value => (value * amplitude) / Math.max(level, 1e-9))
  }

  add(audio: Int16Array): void {
    for (let i = 0; i < audio.length; i++) {
      audio[i] = Math.max(-32_768, Math.min(32_767, Math.round(audio[i]! + this.#loop[this.#at]!)))
      this.#at = (this.#at + 1) % this.#loop.length
    }
  }
}

const GENERATORS: Readonly<Record<NoiseKind, (random: Random) => Float32Array>> = {
  room: random => coloured(random, 0.6),
  car: random => coloured(random, 0.97),
  street: random => {
    const noise = coloured(random, 0.8)
    return noise.map((value, i) => value * (0.6 + 0.4 * Math.sin((2 * Math.PI * i) / LOOP)))
  },
  babble,
  music: () =>
    Float32Array.from({ length: LOOP }, (_, i) => {
      const beat = Math.exp(-((i % (RATE / 2)) / (RATE / 4)))
      return beat * CHORD.reduce((sum, hz) => sum + Math.sin((2 * Math.PI * Math.round(hz * 2) * i) / LOOP), 0)
    }),
}

/** White noise through a one-pole low-pass; `pole` near 1 leaves the lowest frequencies. */
function coloured(random: Random, pole: number): Float32Array {
  let value = 0
  return Float32Array.from({ length: LOOP }, () => {
    value = pole * value + (1 - pole) * (uniform(random) - 0.5)
    return value
  })
}

/** Several voices at once: pulses of different pitches, each with syllables of its own. */
function babble(random: Random): Float32Array {
  const out = new Float32Array(LOOP)
  for (let voice = 0; voice < VOICES; voice++) {
    const pitch = 90 + 140 * uniform(random)
    const syllables = 3 + 2 * uniform(random)
    const shift = uniform(random)
    for (let i = 0; i < LOOP; i++) {
      const envelope = Math.max(0, Math.sin(2 * Math.PI * ((syllables * i) / RATE + shift)))
      let sum = 0
      for (let harmonic = 1; harmonic <= 12; harmonic++)
        sum += Math.sin((2 * Math.PI * harmonic * pitch * i) / RATE + harmonic * harmonic) / harmonic
      out[i]! += envelope * sum
    }
  }
  return out
}

function uniform(random: Random): number {
  return randomUint32(random) / 2 ** 32
}
