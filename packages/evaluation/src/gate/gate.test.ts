import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { GATE_HYPOTHESES, gateFigures, meansOfEqualPower } from '../testing/gate-figures.ts'
import { NO_PAIRS } from '../testing/simulate-gate.ts'
import { comparedRates, comparisonDecision, withPair } from './gate-comparison.ts'
import { differenceInterval, wilsonInterval } from './intervals.ts'
import { normalQuantile } from './normal-quantile.ts'
import { scheduledPairs } from './pair-order.ts'
import { fixedPlanPairs, mostPairs, sequentialDecision } from './sequential-test.ts'

const RATES = { maximumFalsePass: 0.1, maximumFalseBlock: 0.05, minimumEffect: 0.1 }
const COMPARISONS = 4000

type Hypothesis = (typeof GATE_HYPOTHESES)[number]
const found = new Map<Hypothesis, ReturnType<typeof gateFigures>>()

/** Simulated once for each hypothesis: several tests compare the same figures. */
function figuresOf(hypothesis: Hypothesis) {
  const figures = found.get(hypothesis) ?? gateFigures(hypothesis, RATES, COMPARISONS, new SeededRandom(1))
  found.set(hypothesis, figures)
  return figures
}

describe('a comparison with a known truth', () => {
  it.each(GATE_HYPOTHESES)(
    '$name, a loss of $loss: the stated error rates hold, with fewer trials than a fixed plan',
    hypothesis => {
      const figures = figuresOf(hypothesis)
      if (hypothesis.loss === 0) expect(figures.blocked).toBeLessThanOrEqual(RATES.maximumFalseBlock)
      else expect(figures.blocked).toBeGreaterThanOrEqual(1 - RATES.maximumFalsePass)
      expect(figures.interval.low).toBeLessThanOrEqual(figures.blocked)
      expect(figures.interval.high).toBeGreaterThanOrEqual(figures.blocked)
      expect(figures.mean_of_fixed_plan).toBeLessThanOrEqual(0.6)
      expect(figures.longest_pairs).toBeLessThanOrEqual(figures.longest_allowed_pairs)
      expect(figures.longest_of_fixed_plan).toBeLessThanOrEqual(1.5)
    },
  )

  it.each(GATE_HYPOTHESES.filter(({ name, loss }) => loss === 0 && !name.includes('always')))(
    '$name: a fixed plan that knows the pass rates and errs as often takes more trials, by two thirds and more',
    equal => {
      const worse = GATE_HYPOTHESES.find(({ name, loss }) => name === equal.name && loss > 0)!
      const means = meansOfEqualPower(equal, { equal: figuresOf(equal), worse: figuresOf(worse) })!
      expect(means.equal).toBeLessThanOrEqual(0.6)
      expect(means.worse).toBeLessThanOrEqual(0.6)
    },
  )

  it('a candidate that is better is hardly ever blocked', () => {
    const cases = Array.from({ length: 10 }, () => ({ predecessor: 0.8, candidate: 0.9 }))
    const { blocked } = gateFigures({ name: 'better', loss: -0.1, cases }, RATES, 500, new SeededRandom(3))
    expect(blocked).toBeLessThanOrEqual(0.005)
  })

  it.each([
    { maximumFalsePass: 0.05, maximumFalseBlock: 0.05, minimumEffect: 0.2 },
    { maximumFalsePass: 0.2, maximumFalseBlock: 0.1, minimumEffect: 0.15 },
  ])('other error rates hold as well: $maximumFalsePass, $maximumFalseBlock, $minimumEffect', rates => {
    const of = (loss: number) => Array.from({ length: 8 }, () => ({ predecessor: 0.85, candidate: 0.85 - loss }))
    const blocked = (loss: number) =>
      gateFigures({ name: '', loss, cases: of(loss) }, rates, COMPARISONS, new SeededRandom(11)).blocked
    expect(blocked(0)).toBeLessThanOrEqual(rates.maximumFalseBlock)
    expect(blocked(rates.minimumEffect)).toBeGreaterThanOrEqual(1 - rates.maximumFalsePass)
  })
})

describe('the sequential decision', () => {
  it('no pair decides nothing, and the last allowed pair decides in any case', () => {
    expect(sequentialDecision({ pairs: 0, predecessorOnly: 0, candidateOnly: 0 }, RATES)).toBe('continue')
    const pairs = mostPairs(RATES)
    for (const predecessorOnly of [0, 50, 100, 200])
      for (const candidateOnly of [0, 50, 100, 200])
        expect(sequentialDecision({ pairs, predecessorOnly, candidateOnly }, RATES)).not.toBe('continue')
  })

  it('the most lenient error rates decide too', () => {
    const lenient = { maximumFalsePass: 0.5, maximumFalseBlock: 0.5, minimumEffect: 0.5 }
    expect(mostPairs(lenient)).toBe(1)
    expect(sequentialDecision({ pairs: 1, predecessorOnly: 0, candidateOnly: 0 }, lenient)).toBe('not_worse')
    expect(sequentialDecision({ pairs: 1, predecessorOnly: 1, candidateOnly: 0 }, lenient)).toBe('worse')
  })

  it('a fixed plan has the size of the textbook', () => {
    // (1.6449 + 1.2816)^2 * 0.5 / 0.01
    expect(fixedPlanPairs(RATES)).toBeCloseTo(428.2, 1)
    expect([0.001, 0.025, 0.5, 0.975].map(normalQuantile).map(z => z.toFixed(6))).toEqual([
      '-3.090232',
      '-1.959964',
      '0.000000',
      '1.959964',
    ])
  })
})

describe('the pairs of a comparison', () => {
  it('each round has every case once, and the order is the same every time', () => {
    const pairs = scheduledPairs(0, 15, 5)
    for (const round of [0, 5, 10]) {
      const cases = pairs.slice(round, round + 5)
      expect(cases.map(({ caseIndex }) => caseIndex).sort()).toEqual([0, 1, 2, 3, 4])
      expect(new Set(cases.map(({ trial }) => trial))).toEqual(new Set([round / 5 + 1]))
    }
    expect(scheduledPairs(7, 4, 5)).toEqual(pairs.slice(7, 11))
  })

  it('a candidate passes only after every case was compared', () => {
    let pairs = NO_PAIRS
    for (let pair = 0; pair < 30; pair++) pairs = withPair(pairs, 'passed', 'passed')
    expect(comparisonDecision(pairs, RATES, 30)).toBe('not_worse')
    expect(comparisonDecision(pairs, RATES, 31)).toBe('continue')
  })

  it('a trial that errored has not passed, and pairs in which both errored are no evidence', () => {
    let pairs = withPair(withPair(NO_PAIRS, 'passed', 'errored'), 'errored', 'errored')
    expect(pairs).toMatchObject({ predecessor_only: 1, unusable: 1 })
    for (let pair = 0; pair < 10; pair++) pairs = withPair(pairs, 'errored', 'errored')
    expect(comparisonDecision(pairs, RATES, 5)).toBe('errored')
  })
})

describe('intervals', () => {
  it('the intervals of Wilson and Newcombe are those of the literature', () => {
    // Newcombe, Statistics in Medicine 17 (1998): 81 of 263, and 56/70 against 48/80.
    const { low, high } = wilsonInterval({ passed: 81, trials: 263 })
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.2553', '0.3662'])
    const difference = differenceInterval({ passed: 56, trials: 70 }, { passed: 48, trials: 80 })
    expect([difference.low.toFixed(4), difference.high.toFixed(4)]).toEqual(['0.0524', '0.3339'])
    expect(wilsonInterval({ passed: 0, trials: 0 })).toEqual({ low: 0, high: 1 })
  })

  it('the evidence has the rates of both versions', () => {
    const pairs = { both: 6, predecessor_only: 2, candidate_only: 1, neither: 1, unusable: 3 }
    expect(comparedRates(pairs)).toMatchObject({
      candidate: { passed: 7, trials: 10 },
      predecessor: { passed: 8, trials: 10 },
      difference: { estimate: -0.1 },
    })
  })
})
