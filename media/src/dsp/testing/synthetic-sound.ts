import { type Random, randomUint32 } from '@parley/kernel'

const RATE = 8000

interface VowelOptions {
  readonly pitchHz?: number
  /** Share of the pitch by which it moves up and down, 2.3 times a second. */
  readonly vibrato?: number
  readonly syllables?: boolean
}

/** Audio for tests: adds sounds at known positions and levels to silence. All levels are RMS in dB below full scale. */
export class SyntheticSound {
  readonly samples: Int16Array

  constructor(milliseconds: number) {
    this.samples = new Int16Array(milliseconds * 8)
  }

  /** A vowel: harmonics of a slowly moving pitch under two formants, 10 ms attack and release, syllables at 4 Hz when `syllables`. */
  vowel(fromMs: number, untilMs: number, dbfs: number, options: VowelOptions = {}): this {
    const { pitchHz = 125, vibrato = 0.06, syllables = false } = options
    const count = (untilMs - fromMs) * 8
    const sound = new Float64Array(count)
    let phase = 0
    for (let i = 0; i < count; i++) {
      const pitch = pitchHz * (1 + vibrato * Math.sin((2 * Math.PI * 2.3 * i) / RATE))
      phase += pitch / RATE
      let value = 0
      for (let h = 1; h * pitch < 3400; h++) value += formants(h * pitch) * Math.sin(2 * Math.PI * h * phase + h * h)
      const edge = Math.min(1, (i + 1) / 80, (count - i) / 80)
      const syllable = syllables ? 0.6 + 0.4 * Math.sin((2 * Math.PI * 4 * i) / RATE + Math.PI / 2) : 1
      sound[i] = value * edge * syllable
    }
    return this.#add(sound, fromMs, dbfs)
  }

  /** White noise. */
  noise(fromMs: number, untilMs: number, dbfs: number, random: Random): this {
    const sound = new Float64Array((untilMs - fromMs) * 8)
    for (let i = 0; i < sound.length; i++)
      sound[i] = randomUint32(random) / 2 ** 31 + randomUint32(random) / 2 ** 31 - 2
    return this.#add(sound, fromMs, dbfs)
  }

  /** Sines of equal strength. */
  tones(fromMs: number, untilMs: number, dbfs: number, ...frequencies: readonly number[]): this {
    const sound = new Float64Array((untilMs - fromMs) * 8)
    for (let i = 0; i < sound.length; i++)
      for (const frequency of frequencies) sound[i]! += Math.sin((2 * Math.PI * frequency * i) / RATE)
    return this.#add(sound, fromMs, dbfs)
  }

  #add(sound: Float64Array, fromMs: number, dbfs: number): this {
    const energy = sound.reduce((sum, value) => sum + value * value, 0) / sound.length
    const gain = (32768 * 10 ** (dbfs / 20)) / Math.sqrt(energy)
    for (let i = 0; i < sound.length; i++) {
      const mixed = this.samples[fromMs * 8 + i]! + Math.round(gain * sound[i]!)
      this.samples[fromMs * 8 + i] = Math.max(-32768, Math.min(32767, mixed))
    }
    return this
  }
}

function formants(frequency: number): number {
  const peak = (centre: number, width: number) => 1 / (1 + ((frequency - centre) / width) ** 2)
  return peak(650, 120) + 0.5 * peak(1150, 150) + 0.1
}
