import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { type Figures, measureEndpointing } from './measure.ts'

const TURNS = 2400
const SEED = 1

/**
 * Measures how often callers are cut off and how long they wait for the end of turn, compared with a fixed silence:
 * `npm run bench -- endpointing [--turns 2400] [--seed 1]`.
 */
export const benchmark: Benchmark = { name: 'endpointing', options: ['turns', 'seed'], run }

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const turns = Number(option('turns') ?? TURNS)
  const seed = Number(option('seed') ?? SEED)
  if (!(Number.isInteger(turns) && turns >= 100 && turns <= 100_000))
    throw new Error('--turns takes a whole number from 100 to 100000')
  const summary: Record<string, unknown> = {}
  for (const language of ['en', 'es'] as const) {
    for (const punctuation of [true, false]) {
      progress(`${language}, ${punctuation ? 'with' : 'without'} punctuation`)
      const conditions = { language, punctuation, turns, seed }
      const report = (rule: string, figures: Figures) => line({ language, punctuation, rule, ...figures })
      const adaptive = measureEndpointing({ ...conditions, endpointing: { mode: 'adaptive' } })
      report('adaptive', adaptive)
      const known = measureEndpointing({ ...conditions, endpointing: { mode: 'adaptive' }, knowsQuestion: true })
      report('adaptive, known question', known)
      for (const silenceMs of [500, 800, adaptive.wait_mean_ms])
        report(`silence ${silenceMs}`, measureEndpointing({ ...conditions, endpointing: { mode: 'fixed', silenceMs } }))
      const name = `${language}_${punctuation ? 'marks' : 'plain'}`
      summary[`${name}_pauses_cut`] = adaptive.pauses_cut
      summary[`${name}_wait_mean_ms`] = adaptive.wait_mean_ms
      summary[`${name}_known_pauses_cut`] = known.pauses_cut
      summary[`${name}_known_wait_mean_ms`] = known.wait_mean_ms
    }
  }
  return summary
}
