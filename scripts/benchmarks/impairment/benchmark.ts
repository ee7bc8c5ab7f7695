// Word errors and concealment of speech over a network that loses, delays, re-orders and repeats packets.
//   npm run bench -- impairment [--only LINE] [--sentences 30] [--seed 1] [--python FILE]
import { loadOpus } from '../../../media/src/testing/index.ts'
import { wordErrors } from '../../../packages/providers/src/testing/index.ts'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { LocalSpeech, spokenWords } from '../local-speech.ts'
import { SENTENCES } from '../sentences.ts'
import { type CallFigures, figuresOf, notConcealed, withoutConcealment } from './figures.ts'
import { type HeardCall, holdImpairedCall } from './impaired-call.ts'
import { IMPAIRMENTS, type Impairment, LINES, type Line, WORST } from './lines.ts'

const SEED = 1

export const benchmark: Benchmark = { name: 'impairment', options: ['only', 'sentences', 'seed', 'python'], run }

async function run({ option, line: print, progress }: BenchmarkOptions): Promise<object> {
  const count = Number(option('sentences') ?? SENTENCES.length)
  if (!(Number.isInteger(count) && count >= 1 && count <= SENTENCES.length))
    throw new Error(`--sentences takes 1 to ${SENTENCES.length}`)
  const seed = Number(option('seed') ?? SEED)
  const only = option('only')
  const lines = LINES.filter(({ name }) => only === undefined || name === only)
  if (lines.length === 0) throw new Error(`--only takes one of ${LINES.map(({ name }) => `"${name}"`).join(', ')}`)
  await loadOpus()
  const speech = await LocalSpeech.start(option('python'), progress)
  try {
    const summary: Record<string, number> = {}
    for (const line of lines) {
      const sentences = SENTENCES.slice(0, count)
      const rows = await measureLine({ line, sentences, seed, speech, print, progress })
      for (const { impairment, word_errors } of rows) summary[`${line.name}: ${nameOf(impairment)}`] = word_errors
    }
    return { bench: 'impairment', planted_fault_found: true, ...summary }
  } finally {
    await speech.close()
  }
}

interface LineMeasurement {
  readonly line: Line
  readonly sentences: readonly string[]
  readonly seed: number
  readonly speech: LocalSpeech
  readonly print: (record: object) => void
  readonly progress: (text: string) => void
}

interface Row extends CallFigures {
  readonly impairment: Impairment
  readonly word_errors: number
}

/** Rejects if the worst network leaves a hole in the speech, or if holes without concealment are not found. */
async function measureLine({ line, sentences, seed, speech, print, progress }: LineMeasurement): Promise<Row[]> {
  const utterances = await Promise.all(sentences.map(text => speech.speak(text, line.format)))
  const clean = await holdImpairedCall(line, {}, utterances, seed)
  const rows: Row[] = []
  const measure = async (impairment: Impairment, heard: HeardCall, isPlanted: boolean) => {
    const word_errors = await wordErrorRate(speech, line, sentences, heard)
    const row = { line: line.name, planted: isPlanted, impairment, word_errors, ...figuresOf(line, clean, heard) }
    print(row)
    progress(`${line.name}, ${isPlanted ? 'without concealment, ' : ''}${nameOf(impairment)}`)
    return row
  }
  for (const impairment of IMPAIRMENTS)
    rows.push(await measure(impairment, await holdImpairedCall(line, impairment, utterances, seed), false))
  const wrong = rows.filter(({ impairment }) => impairment === WORST).flatMap(notConcealed)
  if (wrong.length > 0) throw new Error(`${line.name}, ${nameOf(WORST)}: ${wrong.join('; ')}`)
  const damaged = await withoutConcealment(() => holdImpairedCall(line, WORST, utterances, seed))
  if (notConcealed(await measure(WORST, damaged, true)).length === 0)
    throw new Error(`${line.name}: the planted fault, a call without concealment, was not found`)
  return rows
}

async function wordErrorRate(
  speech: LocalSpeech,
  { format }: Line,
  sentences: readonly string[],
  heard: HeardCall,
): Promise<number> {
  let words = 0
  let errors = 0
  for (const [i, text] of sentences.entries()) {
    const said = spokenWords(text)
    words += said.length
    errors += wordErrors(said, await speech.understand(heard.utterances[i]!, format))
  }
  return Math.round((1000 * errors) / words) / 1000
}

function nameOf({ loss = 0, jitterMs = 0, reorder = 0, duplicate = 0 }: Impairment): string {
  const parts = [
    ...(loss > 0 ? [`${100 * loss} % lost`] : []),
    ...(jitterMs > 0 ? [`jitter ${jitterMs} ms`] : []),
    ...(reorder > 0 ? [`${100 * reorder} % re-ordered`] : []),
    ...(duplicate > 0 ? [`${100 * duplicate} % twice`] : []),
  ]
  return parts.length === 0 ? 'undamaged' : parts.join(', ')
}
