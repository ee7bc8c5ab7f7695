import { differenceInterval, type Interval, type Passed, wilsonInterval } from './intervals.ts'
import { type ErrorRates, sequentialDecision } from './sequential-test.ts'

type TrialVerdict = 'passed' | 'failed' | 'errored'

/** Pairs of a comparison by their results, in the order of the schedule. */
export interface ComparedPairs {
  readonly both: number
  readonly predecessor_only: number
  readonly candidate_only: number
  readonly neither: number
  /** Pairs in which both trials errored: they show nothing about either version. */
  readonly unusable: number
}

/** Unusable pairs beyond which a comparison ends without a result, if they are also more than a quarter of all. */
const MOST_UNUSABLE = 10

/** The pairs with one more. A trial that errored has not passed. */
export function withPair(pairs: ComparedPairs, predecessor: TrialVerdict, candidate: TrialVerdict): ComparedPairs {
  const kind = kindOf(predecessor, candidate)
  return { ...pairs, [kind]: pairs[kind] + 1 }
}

function kindOf(predecessor: TrialVerdict, candidate: TrialVerdict): keyof ComparedPairs {
  if (predecessor === 'errored' && candidate === 'errored') return 'unusable'
  if (predecessor === 'passed') return candidate === 'passed' ? 'both' : 'predecessor_only'
  return candidate === 'passed' ? 'candidate_only' : 'neither'
}

/** Number of pairs, with those that are unusable. */
export function pairCount(pairs: ComparedPairs): number {
  return usablePairs(pairs) + pairs.unusable
}

function usablePairs({ both, predecessor_only, candidate_only, neither }: ComparedPairs): number {
  return both + predecessor_only + candidate_only + neither
}

/** `errored`: too many trials of both versions did not work. */
type ComparisonDecision = 'continue' | 'not_worse' | 'worse' | 'errored'

/** What the pairs so far decide. A candidate passes only after every one of the `cases` was compared once. */
export function comparisonDecision(pairs: ComparedPairs, rates: ErrorRates, cases: number): ComparisonDecision {
  const { unusable, predecessor_only: predecessorOnly, candidate_only: candidateOnly } = pairs
  if (unusable > MOST_UNUSABLE && 4 * unusable > pairCount(pairs)) return 'errored'
  const decision = sequentialDecision({ pairs: usablePairs(pairs), predecessorOnly, candidateOnly }, rates)
  return decision === 'not_worse' && pairCount(pairs) < cases ? 'continue' : decision
}

/** Pass rates of both versions over the usable pairs, with 95 % intervals. */
export function comparedRates(pairs: ComparedPairs) {
  const trials = usablePairs(pairs)
  const candidate = { passed: pairs.both + pairs.candidate_only, trials }
  const predecessor = { passed: pairs.both + pairs.predecessor_only, trials }
  const estimate = trials === 0 ? 0 : (candidate.passed - predecessor.passed) / trials
  return {
    candidate: withInterval(candidate),
    predecessor: withInterval(predecessor),
    difference: { estimate, ...differenceInterval(candidate, predecessor) },
  }
}

export function withInterval(passed: Passed): Passed & Interval {
  return { ...passed, ...wilsonInterval(passed) }
}
