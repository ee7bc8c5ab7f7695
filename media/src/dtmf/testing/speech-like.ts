import { type Random, randomUint32 } from '@parley/kernel'

const RATE = 8000
const HARMONICS = 24
const BREATH = 0.01

/** Speech-like sound of one voice: syllables of gliding pitch under moving formants, with pauses and hiss. */
export function murmur(seconds: number, random: Random): Float64Array {
  const uniform = (from: number, to: number) => from + ((to - from) * randomUint32(random)) / 2 ** 32
  const out = new Float64Array(seconds * RATE)
  for (let at = 0; at < out.length; ) {
    const count = Math.min(out.length - at, Math.round(uniform(0.06, 0.45) * RATE))
    const kind = uniform(0, 1)
    if (kind < 0.75) vowel(out, at, count, uniform)
    else if (kind < 0.87) for (let i = 0; i < count / 3; i++) out[at + i] = uniform(-0.15, 0.15)
    at += count
  }
  return out
}

function vowel(out: Float64Array, at: number, count: number, uniform: (from: number, to: number) => number): void {
  const pitch = uniform(80, 340)
  // A steady vowel is the worst case for a tone detector: every third does not glide at all.
  const glide = uniform(0, 1) < 0.33 ? 1 : uniform(0.9, 1.15)
  const [first, second] = [uniform(250, 900), uniform(900, 2400)]
  const amplitudes = new Float64Array(HARMONICS)
  for (let h = 1; h <= HARMONICS; h++)
    amplitudes[h - 1] = h * pitch > 3600 ? 0 : vocalTract(h * pitch, first, second) / h
  const gain = uniform(0.1, 0.9) / amplitudes.reduce((sum, a) => sum + a, 0)
  let phase = 0
  let jitter = 1
  for (let i = 0; i < count; i++) {
    // No two periods of a voice are alike: about 1 % from one to the next, and breath in all of them.
    if (i % 64 === 0) jitter = uniform(0.98, 1.02)
    phase += (jitter * (2 * Math.PI * pitch * (1 + ((glide - 1) * i) / count))) / RATE
    const edge = Math.min(1, (i + 1) / 80, (count - i) / 80)
    out[at + i] = edge * (gain * harmonics(amplitudes, phase) + uniform(-BREATH, BREATH))
  }
}

/** The sum of all harmonics by recurrence: one cosine for a sample instead of one for each. */
function harmonics(amplitudes: Float64Array, phase: number): number {
  const factor = 2 * Math.cos(phase)
  let before = 0
  let sine = Math.sin(phase)
  let sum = 0
  for (let h = 0; h < HARMONICS; h++) {
    sum += amplitudes[h]! * sine
    const next = factor * sine - before
    before = sine
    sine = next
  }
  return sum
}

/** Four formants in a row, as a vocal tract has them; the source falls by 6 dB an octave when it has left the lips. */
function vocalTract(hz: number, first: number, second: number): number {
  const formant = (centre: number, width: number) =>
    centre ** 2 / Math.sqrt((centre ** 2 - hz ** 2) ** 2 + (hz * width) ** 2)
  return formant(first, 80) * formant(second, 100) * formant(2500, 150) * formant(3400, 250)
}

/** Chords of three notes of the tempered scale, each with its overtones, one after the other. */
export function chords(seconds: number, random: Random): Float64Array {
  const out = new Float64Array(seconds * RATE)
  for (let at = 0; at < out.length; ) {
    const count = Math.min(out.length - at, 1000 + (randomUint32(random) % 5000))
    const root = 36 + (randomUint32(random) % 36)
    for (const step of [0, 3 + (randomUint32(random) % 2), 7]) {
      const hz = 440 * 2 ** ((root + step - 57) / 12)
      for (let overtone = 1; overtone <= 5 && overtone * hz < 3600; overtone++) {
        for (let i = 0; i < count; i++) {
          out[at + i]! += (0.12 / overtone) * Math.exp(-i / 6000) * Math.sin((2 * Math.PI * overtone * hz * i) / RATE)
        }
      }
    }
    at += count
  }
  return out
}

export function toAudio(sound: Float64Array, gain = 1): Int16Array {
  return Int16Array.from(sound, x => Math.max(-32768, Math.min(32767, Math.round(x * gain * 32767))))
}
