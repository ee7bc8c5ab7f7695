import { type Random, randomUint32, SeededRandom } from '@parley/kernel'
import { resample } from '@parley/media'
import { codecByName } from '@parley/media/testing'
import type { CallSpec, Part } from './manifest.ts'
import { synthesise } from './synthesis.ts'

const RATE = 8000
const MS = RATE / 1000
const FRAME = 160
/** RMS of speech, and of tones, of 32768. */
const SPEECH_RMS = 2600
const TONE_RMS = 3000
/** Speech is measured where it is louder than this share of its peak. */
const ACTIVE_SHARE = 0.05

/** A word as it was spoken, on the clock of the audio. */
export interface SpokenText {
  readonly text: string
  readonly startMs: number
  readonly endMs: number
  /** Last word of its utterance. */
  readonly isLast: boolean
}

/** The far end of a call as it is received: 8 kHz, with noise, codec and loss. */
interface CalleeAudio {
  readonly samples: Int16Array
  readonly answeredMs: number
  /** First sound after the answer; null: none. */
  readonly firstSoundMs: number | null
  readonly words: readonly SpokenText[]
  /** End of the beep, if there is one. */
  readonly beepEndMs: number | null
}

export async function calleeAudio(spec: CallSpec): Promise<CalleeAudio> {
  const random = new SeededRandom(spec.seed)
  const words: SpokenText[] = []
  const sounds: Float64Array[] = []
  let ms = 0
  let answeredMs = 0
  let firstSoundMs: number | null = null
  let beepEndMs: number | null = null
  const parts: (Part | 'answer')[] = [...spec.early, 'answer', ...spec.parts]
  for (const part of parts) {
    if (part === 'answer') {
      answeredMs = ms
      firstSoundMs = null
      continue
    }
    const sound = await soundOf(part, spec, random)
    if (!('silence' in part)) firstSoundMs ??= ms
    if ('says' in part) words.push(...wordsOf(part.says, ms, sound.length / MS))
    sounds.push(sound)
    ms += sound.length / MS
    if ('beep' in part) beepEndMs = ms
  }
  const clean = joined(sounds)
  if (spec.snrDb !== null) addNoise(clean, spec, random)
  return { samples: received(clean, spec, random), answeredMs, firstSoundMs, words, beepEndMs }
}

async function soundOf(part: Part, spec: CallSpec, random: Random): Promise<Float64Array> {
  if ('silence' in part) return new Float64Array(part.silence * MS)
  if ('says' in part) return scaled(Float64Array.from(await synthesise(spec.voice, part.says)), SPEECH_RMS)
  if ('beep' in part) return tones(part.beep.hz, part.beep.ms)
  switch (part.sound) {
    case 'ringback':
      return spec.language === 'es' ? tones([425], part.ms) : tones([440, 480], part.ms)
    case 'sit':
      return joined([tones([985.2], 380), tones([1428.5], 380), tones([1776.7], 380)])
    case 'fax':
      return tones([2100], part.ms)
    case 'music':
      return music(part.ms, random)
  }
}

function tones(hz: readonly number[], ms: number): Float64Array {
  const out = new Float64Array(Math.round(ms * MS))
  for (let i = 0; i < out.length; i++) {
    const edge = Math.min(1, (i + 1) / 40, (out.length - i) / 40)
    for (const f of hz) out[i]! += edge * Math.sin((2 * Math.PI * f * i) / RATE)
  }
  return scaled(out, TONE_RMS)
}

/** Chords of three notes with overtones, each of 300 to 900 ms, over a bass. */
function music(ms: number, random: Random): Float64Array {
  const out = new Float64Array(Math.round(ms * MS))
  for (let at = 0; at < out.length; ) {
    const count = Math.round((300 + 600 * uniform(random)) * MS)
    const root = 220 * 2 ** (Math.floor(uniform(random) * 12) / 12)
    for (const ratio of [0.5, 1, 1.25, 1.5]) {
      for (let harmonic = 1; harmonic <= 4; harmonic++) {
        const step = (2 * Math.PI * root * ratio * harmonic) / RATE
        for (let i = 0; i < count && at + i < out.length; i++)
          out[at + i]! += (Math.sin(step * i) * Math.exp(-i / (0.4 * RATE))) / harmonic
      }
    }
    at += count
  }
  return scaled(out, SPEECH_RMS)
}

function addNoise(sound: Float64Array, { snrDb, noise }: CallSpec, random: Random): void {
  const out = new Float64Array(sound.length)
  let [slow, slower, phase] = [0, 0, 0]
  for (let i = 0; i < out.length; i++) {
    const white = 2 * uniform(random) - 1
    slow = 0.94 * slow + 0.06 * white
    slower = 0.995 * slower + 0.005 * white
    phase += (2 * Math.PI * 50) / RATE
    if (noise === 'pink') out[i] = 0.3 * white + 2 * slow + 6 * slower
    else if (noise === 'street') out[i] = (slow * 3 + slower * 12) * (1 + 0.5 * Math.sin(i / (1.7 * RATE)))
    else out[i] = 0.15 * white + 0.4 * Math.sin(phase) + 0.2 * Math.sin(3 * phase) + 0.1 * Math.sin(5 * phase)
  }
  scaled(out, SPEECH_RMS * 10 ** (-snrDb! / 20))
  for (let i = 0; i < out.length; i++) sound[i]! += out[i]!
}

/** What arrives: coded, decoded, with lost packets replaced by silence. */
function received(sound: Float64Array, { codec, lossPercent }: CallSpec, random: Random): Int16Array {
  const narrow = Int16Array.from(sound, value => Math.max(-32768, Math.min(32767, Math.round(value))))
  const { format, createEncoder, createDecoder } = codecByName(codec)!
  const rate = format.sampleRateHz
  const input = rate === RATE ? narrow : resample(narrow, RATE, rate)
  const bytes = new Uint8Array(input.length + 2)
  const count = createEncoder().encode(input, 0, input.length, bytes, 0)
  const decoded = new Int16Array(input.length + 2)
  const length = createDecoder().decode(bytes, 0, count, decoded, 0)
  const out = rate === RATE ? decoded.subarray(0, length) : resample(decoded.subarray(0, length), rate, RATE)
  for (let at = 0; at < out.length; at += FRAME)
    if (uniform(random) * 100 < lossPercent) out.fill(0, at, Math.min(out.length, at + FRAME))
  return out
}

/** The words with times in proportion to their letters; punctuation is a pause. */
function wordsOf(text: string, fromMs: number, durationMs: number): SpokenText[] {
  const tokens = text.split(/\s+/).filter(token => /[\p{L}\p{N}]/u.test(token))
  const weights = tokens.map(token => token.replace(/[^\p{L}\p{N}]/gu, '').length + 1.5)
  const pauses = tokens.map((token, i) =>
    i < tokens.length - 1 && /[.,?!]$/.test(token) ? (token.endsWith(',') ? 4 : 7) : 0,
  )
  const total = [...weights, ...pauses].reduce((sum, value) => sum + value, 0)
  let at = fromMs
  return tokens.map((token, i) => {
    const startMs = at
    const endMs = at + (durationMs * weights[i]!) / total
    at = endMs + (durationMs * pauses[i]!) / total
    return { text: token, startMs, endMs, isLast: i === tokens.length - 1 }
  })
}

/** Sets the RMS of the active part. */
function scaled(sound: Float64Array, rms: number): Float64Array {
  const peak = sound.reduce((max, value) => Math.max(max, Math.abs(value)), 0)
  let energy = 0
  let count = 0
  for (const value of sound) {
    if (Math.abs(value) < ACTIVE_SHARE * peak) continue
    energy += value * value
    count++
  }
  const gain = count === 0 ? 0 : rms / Math.sqrt(energy / count)
  for (let i = 0; i < sound.length; i++) sound[i]! *= gain
  return sound
}

function joined(sounds: readonly Float64Array[]): Float64Array {
  const out = new Float64Array(sounds.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const sound of sounds) {
    out.set(sound, at)
    at += sound.length
  }
  return out
}

function uniform(random: Random): number {
  return randomUint32(random) / 2 ** 32
}
