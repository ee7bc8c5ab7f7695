import { type Ms, msToSamples, NARROWBAND, type Random, randomBelow } from '@parley/kernel'

/** A synthetic voice: syllables at 4 Hz of a vowel whose pitch moves. */
export function voiceSound(ms: Ms): Int16Array {
  const out = new Int16Array(msToSamples(ms, NARROWBAND))
  let phase = 0
  for (let i = 0; i < out.length; i++) {
    const t = i / 8000
    phase += (120 + 15 * Math.sin(2 * Math.PI * 0.7 * t)) / 8000
    const syllable = 0.35 + 0.65 * Math.abs(Math.sin(2 * Math.PI * 2 * t))
    const edge = Math.min(1, i / 80, (out.length - i) / 80)
    let value = 0
    for (let h = 1; h <= 20; h++)
      value += Math.sin(2 * Math.PI * h * phase + h * h) / (1 + Math.abs(h * 120 - 600) / 300)
    out[i] = Math.round(2600 * syllable * edge * value)
  }
  return out
}

/** Noise without repetition, so that its position in other audio can be found by correlation. */
export function fingerprint(ms: Ms, random: Random): Int16Array {
  return Int16Array.from({ length: msToSamples(ms, NARROWBAND) }, () => randomBelow(random, 12_000) - 6000)
}

/** Normalised correlation of two pieces of audio of equal length, -1 to 1; independent of their loudness. */
export function likeness(a: Int16Array, b: Int16Array): number {
  let ab = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < a.length; i++) {
    ab += a[i]! * b[i]!
    aa += a[i]! * a[i]!
    bb += b[i]! * b[i]!
  }
  return aa === 0 || bb === 0 ? 0 : ab / Math.sqrt(aa * bb)
}

/** Root mean square. */
export function loudness(audio: Int16Array): number {
  let sum = 0
  for (const sample of audio) sum += sample ** 2
  return Math.sqrt(sum / Math.max(1, audio.length))
}
