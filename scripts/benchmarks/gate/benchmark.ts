// Simulates release gates with known pass rates: how often each blocks, and how many trials it takes.
//   npm run bench -- gate [--comparisons N] [--seed N]
import { GATE_HYPOTHESES, gateFigures, meansOfEqualPower } from '../../../packages/evaluation/src/testing/index.ts'
import { SeededRandom } from '../../../packages/kernel/src/index.ts'
import type { Benchmark } from '../benchmark.ts'

const RATES = { maximumFalsePass: 0.1, maximumFalseBlock: 0.05, minimumEffect: 0.1 }
const COMPARISONS = 10_000
const SEED = 1

export const benchmark: Benchmark = {
  name: 'gate',
  options: ['comparisons', 'seed'],
  async run({ option, line, progress }) {
    const comparisons = numberOf('comparisons', option('comparisons'), COMPARISONS)
    const seed = numberOf('seed', option('seed'), SEED)
    const all: ReturnType<typeof gateFigures>[] = []
    for (const hypothesis of GATE_HYPOTHESES) {
      progress(`${hypothesis.name}, a loss of ${hypothesis.loss}`)
      const figures = gateFigures(hypothesis, RATES, comparisons, new SeededRandom(seed))
      line(figures)
      all.push(figures)
    }
    const means = GATE_HYPOTHESES.flatMap(hypothesis => {
      if (hypothesis.loss !== 0) return []
      const [equal, worse] = all.filter(({ name }) => name === hypothesis.name)
      const of = meansOfEqualPower(hypothesis, { equal: equal!, worse: worse! })
      if (of !== null) line({ name: hypothesis.name, of_the_plan_of_the_same_power: of })
      return of === null ? [] : [of.equal, of.worse]
    })
    const of = (isEqual: boolean) => all.filter(({ loss }) => (loss === 0) === isEqual)
    return {
      comparisons,
      seed,
      ...RATES,
      most_equal_blocked: Math.max(...of(true).map(({ blocked }) => blocked)),
      least_regressions_blocked: Math.min(...of(false).map(({ blocked }) => blocked)),
      mean_of_fixed_plan: Math.max(...all.map(figures => figures.mean_of_fixed_plan)),
      mean_of_the_plan_of_the_same_power: Math.max(...means),
      longest_of_fixed_plan: Math.max(...all.map(figures => figures.longest_of_fixed_plan)),
    }
  },
}

function numberOf(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} takes a whole number from 1, not "${text}"`)
  return Number(text)
}
