import type { Random } from '@parley/kernel'
import { type Interval, wilsonInterval } from '../gate/intervals.ts'
import { normalQuantile } from '../gate/normal-quantile.ts'
import { type ErrorRates, fixedPlanPairs, mostPairs } from '../gate/sequential-test.ts'
import { type SimulatedCase, simulateGate } from './simulate-gate.ts'

/** A suite with known pass rates. */
interface GateHypothesis {
  readonly name: string
  /** The candidate's loss of the mean pass rate. */
  readonly loss: number
  readonly cases: readonly SimulatedCase[]
}

const CASES = 20
const LOSS = 0.1

/** Each suite for equal versions and for a candidate that is worse by ten points. */
export const GATE_HYPOTHESES: readonly GateHypothesis[] = [
  // Where the results vary most, with the loss.
  ...both('every case passes with 0.55', () => 0.55),
  ...both('every case passes with 0.7', () => 0.7),
  ...both('every case passes with 0.8', () => 0.8),
  ...both('every case passes with 0.9', () => 0.9),
  ...both('cases pass with 0.5 to 1', index => 0.5 + (0.5 * index) / (CASES - 1)),
  // Of an agent without chance: two of its twenty cases break.
  { name: 'every case always passes', loss: 0, cases: suite(() => ({ predecessor: 1, candidate: 1 })) },
  {
    name: 'every case always passes',
    loss: LOSS,
    cases: suite(index => ({ predecessor: 1, candidate: index < LOSS * CASES ? 0 : 1 })),
  },
]

function both(name: string, rateOf: (index: number) => number): GateHypothesis[] {
  return [0, LOSS].map(loss => ({
    name,
    loss,
    cases: suite(index => ({ predecessor: rateOf(index), candidate: rateOf(index) - loss })),
  }))
}

function suite(caseOf: (index: number) => SimulatedCase): SimulatedCase[] {
  return Array.from({ length: CASES }, (_, index) => caseOf(index))
}

interface GateFigures {
  readonly name: string
  readonly loss: number
  readonly comparisons: number
  /** Share of comparisons that blocked the candidate, with its Wilson interval at 95 %. */
  readonly blocked: number
  readonly interval: Interval
  readonly mean_pairs: number
  readonly longest_pairs: number
  /** Of the fixed plan with the same error rates that does not know the pass rates beforehand. */
  readonly mean_of_fixed_plan: number
  readonly longest_of_fixed_plan: number
  /** Of the fixed plan with the same error rates that knows them beforehand. */
  readonly mean_of_informed_plan: number
  readonly longest_allowed_pairs: number
}

/** Simulates this many comparisons of one hypothesis. */
export function gateFigures(
  { name, loss, cases }: GateHypothesis,
  rates: ErrorRates,
  comparisons: number,
  random: Random,
): GateFigures {
  let [blocked, pairs, longest] = [0, 0, 0]
  for (let comparison = 0; comparison < comparisons; comparison++) {
    const one = simulateGate(cases, rates, random)
    if (one.isBlocked) blocked++
    pairs += one.pairs
    longest = Math.max(longest, one.pairs)
  }
  const mean = pairs / comparisons
  const fixed = fixedPlanPairs(rates)
  return {
    name,
    loss,
    comparisons,
    blocked: blocked / comparisons,
    interval: wilsonInterval({ passed: blocked, trials: comparisons }),
    mean_pairs: mean,
    longest_pairs: longest,
    mean_of_fixed_plan: mean / fixed,
    longest_of_fixed_plan: longest / fixed,
    mean_of_informed_plan: mean / informedPlanPairs(cases, rates),
    longest_allowed_pairs: mostPairs(rates),
  }
}

/**
 * Mean pairs of both hypotheses of a suite as shares of the plan of the same power: it knows the pass rates beforehand, and errs as often
 * as the gate did in the simulation. Null: the gate made no error of one kind, and no plan of fixed size does that.
 */
export function meansOfEqualPower(
  { cases }: GateHypothesis,
  { equal, worse }: { readonly equal: GateFigures; readonly worse: GateFigures },
): { readonly equal: number; readonly worse: number } | null {
  const [maximumFalseBlock, maximumFalsePass] = [equal.blocked, 1 - worse.blocked]
  if (maximumFalseBlock === 0 || maximumFalsePass === 0) return null
  const pairs = informedPlanPairs(cases, { maximumFalseBlock, maximumFalsePass, minimumEffect: LOSS })
  return { equal: equal.mean_pairs / pairs, worse: worse.mean_pairs / pairs }
}

/** Pairs of the usual plan that compares two proportions, where the pass rates are known: no loss is tested with the rates of their mean. */
function informedPlanPairs(cases: readonly SimulatedCase[], rates: ErrorRates): number {
  const variance = (rateOf: (one: SimulatedCase) => number) =>
    cases.reduce((sum, one) => sum + rateOf(one) * (1 - rateOf(one)), 0) / cases.length
  const worse = ({ predecessor }: SimulatedCase) => Math.max(0, predecessor - LOSS)
  const equal = 2 * variance(one => (one.predecessor + worse(one)) / 2)
  const lower = variance(one => one.predecessor) + variance(worse)
  const [block, pass] = [normalQuantile(1 - rates.maximumFalseBlock), normalQuantile(1 - rates.maximumFalsePass)]
  return (block * Math.sqrt(equal) + pass * Math.sqrt(lower)) ** 2 / rates.minimumEffect ** 2
}
