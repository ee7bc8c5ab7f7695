import { SeededRandom } from '../../../packages/kernel/src/index.ts'
import { type TextToSpeech, TonesRecogniser } from '../../../packages/providers/src/index.ts'
import { type Rendering, renderWithTones } from '../../../packages/providers/src/simulated/rendering.ts'
import {
  type LineConditions,
  LocalEspeak,
  LocalFlite,
  overTelephoneLine,
  wordErrors,
} from '../../../packages/providers/src/testing/index.ts'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { inventSentences } from './sentences.ts'

const SENTENCES = 80
const SEED = 1
/** What the recogniser gets beside an utterance: quiet before it and after it, samples. */
const BEFORE = 8000
const AFTER = 8000
const PACKET = 160

const LINES: readonly Omit<LineConditions, 'random'>[] = [
  {},
  { loss: 0.02 },
  { loss: 0.05 },
  { noiseBelowDb: 30 },
  { noiseBelowDb: 20 },
  { noiseBelowDb: 10 },
  { loss: 0.02, noiseBelowDb: 20 },
  { loss: 0.05, noiseBelowDb: 20 },
]

/**
 * Word errors of the built-in speech pair over G.711 with lost packets and noise, and what the pair costs:
 * `npm run bench -- speech-pair [--sentences 80] [--seed 1]`.
 */
export const benchmark: Benchmark = { name: 'speech-pair', options: ['sentences', 'seed'], run }

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const count = Number(option('sentences') ?? SENTENCES)
  const seed = Number(option('seed') ?? SEED)
  if (!(Number.isInteger(count) && count >= 1 && count <= 2000)) throw new Error('--sentences takes 1 to 2000')
  const summary: Record<string, unknown> = {}
  const cost = { ms: 0, seconds: 0 }
  for (const voice of [new LocalFlite(), new LocalEspeak()]) {
    const language = voice.id === 'local/flite' ? 'en' : 'es'
    const obstacle = await voice.readiness()
    if (obstacle !== null) progress(`skipped ${language}: ${obstacle}`)
    else {
      const renderings = await render(voice, language, inventSentences(language, count, new SeededRandom(seed)), line)
      for (const conditions of LINES) {
        const figures = measure(renderings, conditions, seed, cost)
        const name = { language, loss: conditions.loss ?? 0, noise_db: conditions.noiseBelowDb ?? null }
        line({ ...name, ...figures })
        if (conditions.loss === 0.02 && conditions.noiseBelowDb === 20)
          summary[`word_error_rate_${language}`] = figures.rate
      }
    }
    await voice.close()
  }
  return { ...summary, recognise_ms_per_s: round(cost.ms / cost.seconds) }
}

async function render(voice: TextToSpeech, language: string, texts: readonly string[], line: (record: object) => void) {
  const renderings: Rendering[] = []
  let voiceMs = 0
  let tonesMs = 0
  let spoken = 0
  let rendered = 0
  for (const text of texts) {
    let from = cpuMs()
    const speech: number[] = []
    const signal = new AbortController().signal
    for await (const { samples } of voice.synthesize({ text, language }, signal)) speech.push(...samples)
    voiceMs += cpuMs() - from
    from = cpuMs()
    const rendering = renderWithTones(Int16Array.from(speech), text)
    tonesMs += cpuMs() - from
    renderings.push(rendering)
    spoken += speech.length / 8000
    rendered += rendering.samples.length / 8000
  }
  line({
    language,
    voice: voice.id,
    words_per_minute: Math.round((60 * renderings.reduce((sum, { words }) => sum + words.length, 0)) / rendered),
    // What a program of its own costs is not seen from here.
    voice_ms_per_s: voice.id === 'local/flite' ? round(voiceMs / spoken) : null,
    tones_ms_per_s: round(tonesMs / rendered),
    length_over_speech: round(rendered / spoken),
  })
  return renderings
}

function measure(
  renderings: readonly Rendering[],
  conditions: Omit<LineConditions, 'random'>,
  seed: number,
  cost: { ms: number; seconds: number },
) {
  const random = new SeededRandom(seed)
  const recogniser = new TonesRecogniser()
  let words = 0
  let errors = 0
  let invented = 0
  for (const { samples, words: spoken } of renderings) {
    const sent = new Int16Array(BEFORE + samples.length + AFTER)
    sent.set(samples, BEFORE)
    const received = overTelephoneLine(sent, { ...conditions, random })
    const reference = spoken.map(({ text }) => text)
    const understood: string[] = []
    const stream = recogniser.open({ language: 'en' })
    stream.onEvent(event => {
      if (event.type === 'final') understood.push(...event.words.map(({ text }) => text))
    })
    const from = cpuMs()
    for (let at = 0; at < received.length; at += PACKET) stream.write(received.subarray(at, at + PACKET), at)
    cost.ms += cpuMs() - from
    cost.seconds += received.length / 8000
    stream.close()
    words += reference.length
    errors += wordErrors(reference, understood)
    invented += understood.filter(word => !reference.includes(word)).length
  }
  return { words, errors, invented, rate: round(errors / words) }
}

/** Processor time of this process, all threads, ms. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
