import { type Random, randomBelow } from '@parley/kernel'
import { type ComparedPairs, comparisonDecision, pairCount, withPair } from '../gate/gate-comparison.ts'
import { scheduledPairs } from '../gate/pair-order.ts'
import type { ErrorRates } from '../gate/sequential-test.ts'

/** The probabilities with which a case passes its trials. */
export interface SimulatedCase {
  readonly predecessor: number
  readonly candidate: number
}

/** A comparison before its first pair. */
export const NO_PAIRS: ComparedPairs = { both: 0, predecessor_only: 0, candidate_only: 0, neither: 0, unusable: 0 }

interface SimulatedGate {
  readonly isBlocked: boolean
  readonly pairs: number
}

const STEPS = 2 ** 30

/** One comparison of two versions with known pass rates, decided as a release gate decides. */
export function simulateGate(cases: readonly SimulatedCase[], rates: ErrorRates, random: Random): SimulatedGate {
  const verdict = (probability: number) => (randomBelow(random, STEPS) < probability * STEPS ? 'passed' : 'failed')
  let pairs = NO_PAIRS
  for (;;) {
    for (const { caseIndex } of scheduledPairs(pairCount(pairs), cases.length, cases.length)) {
      const { predecessor, candidate } = cases[caseIndex]!
      pairs = withPair(pairs, verdict(predecessor), verdict(candidate))
      const decision = comparisonDecision(pairs, rates, cases.length)
      if (decision !== 'continue') return { isBlocked: decision !== 'not_worse', pairs: pairCount(pairs) }
    }
  }
}
