import { decodePcmu, encodePcmu } from '../../../media/src/index.ts'
import { NARROWBAND, type Random, randomUint32, SeededRandom } from '../../../packages/kernel/src/index.ts'
import { BackgroundNoise } from '../../../packages/phone/src/caller/background-noise.ts'
import { activeLevel } from '../../../packages/providers/src/simulated/alignment.ts'
import { wordErrors } from '../../../packages/providers/src/testing/index.ts'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { LocalSpeech, spokenWords } from '../local-speech.ts'
import { SENTENCES } from '../sentences.ts'
import { Rnnoise } from './rnnoise.ts'

const SEED = 1
const RATE_HZ = 8000
/** Noise alone, to which the filter adapts, as in a call before the caller speaks; samples. */
const BEFORE = 2 * RATE_HZ
const AFTER = RATE_HZ / 2
/** What the recogniser gets of it around an utterance. */
const MARGIN = RATE_HZ / 4
const LEVELS_DB = [0, 10, 20] as const
const NOISES = ['white', 'street', 'babble'] as const
/** Sentences of the voice that speak at once in babble. */
const VOICES = 6

/**
 * Whether RNNoise makes a recogniser understand more: word errors of the local recogniser with sentences of the local voice
 * over G.711, with noise, without and with the filter, and the processor time of the filter:
 * `npm run bench -- denoising [--sentences 30] [--seed 1] [--python FILE]`. It needs `parley speech install`, or the Python of such an installation.
 */
export const benchmark: Benchmark = { name: 'denoising', options: ['sentences', 'seed', 'python'], run }

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const count = Number(option('sentences') ?? SENTENCES.length)
  const seed = Number(option('seed') ?? SEED)
  if (!(Number.isInteger(count) && count >= 1 && count <= SENTENCES.length))
    throw new Error(`--sentences takes 1 to ${SENTENCES.length}`)
  const speech = await LocalSpeech.start(option('python'), progress)
  try {
    const all = await Promise.all(SENTENCES.map(text => speech.speak(text, NARROWBAND)))
    return await measure({ utterances: all.slice(0, count), voices: all, speech, seed, line, progress })
  } finally {
    await speech.close()
  }
}

interface Measurement {
  readonly utterances: readonly Int16Array[]
  readonly voices: readonly Int16Array[]
  readonly speech: LocalSpeech
  readonly seed: number
  readonly line: (record: object) => void
  readonly progress: (text: string) => void
}

async function measure({ utterances, voices, speech, seed, line, progress }: Measurement): Promise<object> {
  const rnnoise = await Rnnoise.load()
  const cost = { ms: 0, seconds: 0 }
  const summary: Record<string, number> = {}
  const conditions = [
    { noise: 'none', snrDb: null } as const,
    ...LEVELS_DB.flatMap(snrDb => NOISES.map(noise => ({ noise, snrDb }))),
  ]
  const totals = new Map<string, { words: number; plain: number; filtered: number }>()
  for (const { noise, snrDb } of conditions) {
    const random = new SeededRandom(seed)
    const figures = { words: 0, plain: 0, filtered: 0 }
    for (const [i, utterance] of utterances.entries()) {
      const received = overLine(withNoise(utterance, { noise, snrDb, voices, random }))
      const from = cpuMs()
      const filtered = rnnoise.denoise(received)
      cost.ms += cpuMs() - from
      cost.seconds += received.length / RATE_HZ
      const reference = spokenWords(SENTENCES[i]!)
      figures.words += reference.length
      figures.plain += wordErrors(reference, await understood(speech, received))
      figures.filtered += wordErrors(reference, await understood(speech, filtered))
    }
    const { words, plain, filtered } = figures
    progress(`${noise} ${snrDb ?? ''}`)
    line({ noise, snr_db: snrDb, words, errors: rate(plain, words), errors_filtered: rate(filtered, words) })
    const name = snrDb === null ? 'clean' : `${snrDb}_db`
    const total = totals.get(name) ?? { words: 0, plain: 0, filtered: 0 }
    totals.set(name, {
      words: total.words + words,
      plain: total.plain + plain,
      filtered: total.filtered + filtered,
    })
  }
  for (const [name, { words, plain, filtered }] of totals) {
    summary[`errors_${name}`] = rate(plain, words)
    summary[`errors_${name}_filtered`] = rate(filtered, words)
  }
  return { bench: 'denoising', ...summary, filter_ms_per_s: Math.round((10 * cost.ms) / cost.seconds) / 10 }
}

interface Surroundings {
  readonly noise: 'none' | (typeof NOISES)[number]
  /** Of the active level of the speech over the noise. */
  readonly snrDb: number | null
  readonly voices: readonly Int16Array[]
  readonly random: Random
}

function withNoise(speech: Int16Array, { noise, snrDb, voices, random }: Surroundings): Int16Array {
  const audio = new Int16Array(BEFORE + speech.length + AFTER)
  const amplitude = snrDb === null ? 0 : activeLevel(speech) * 10 ** (-snrDb / 20)
  if (noise === 'babble') addBabble(audio, amplitude, voices, random)
  else if (noise === 'street') new BackgroundNoise('street', amplitude, random).add(audio)
  else if (noise === 'white') addWhite(audio, amplitude, random)
  for (let i = 0; i < speech.length; i++) audio[BEFORE + i] = clip(audio[BEFORE + i]! + speech[i]!)
  return audio
}

/** Several sentences of the voice at once, each from a place of its own. */
function addBabble(audio: Int16Array, amplitude: number, voices: readonly Int16Array[], random: Random): void {
  const sum = new Float64Array(audio.length)
  for (let voice = 0; voice < VOICES; voice++) {
    let said = voices[Math.floor(uniform(random) * voices.length)]!
    let at = Math.floor(uniform(random) * said.length)
    for (let i = 0; i < sum.length; i++, at++) {
      if (at >= said.length) {
        said = voices[Math.floor(uniform(random) * voices.length)]!
        at = 0
      }
      sum[i]! += said[at] ?? 0
    }
  }
  const level = Math.sqrt(sum.reduce((total, value) => total + value * value, 0) / sum.length)
  for (let i = 0; i < audio.length; i++) audio[i] = clip((sum[i]! * amplitude) / Math.max(1, level))
}

function addWhite(audio: Int16Array, amplitude: number, random: Random): void {
  for (let i = 0; i < audio.length; i++) {
    const gaussian = Math.sqrt(-2 * Math.log(1 - uniform(random))) * Math.cos(2 * Math.PI * uniform(random))
    audio[i] = clip(amplitude * gaussian)
  }
}

/** G.711 mu-law. */
function overLine(audio: Int16Array): Int16Array {
  const bytes = new Uint8Array(audio.length)
  const received = new Int16Array(audio.length)
  encodePcmu(audio, 0, audio.length, bytes, 0)
  decodePcmu(bytes, 0, bytes.length, received, 0)
  return received
}

/** What the recogniser understands of an utterance with a short margin. */
function understood(speech: LocalSpeech, audio: Int16Array): Promise<string[]> {
  return speech.understand(audio.subarray(BEFORE - MARGIN, audio.length - AFTER + MARGIN), NARROWBAND)
}

function rate(errors: number, words: number): number {
  return Math.round((1000 * errors) / words) / 1000
}

/** Processor time of this process, all threads, ms. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function uniform(random: Random): number {
  return randomUint32(random) / 2 ** 32
}

function clip(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)))
}
