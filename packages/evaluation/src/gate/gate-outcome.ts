import type { GateEvidence, ReleaseGate } from '@parley/contract'
import { type ComparedPairs, comparedRates, comparisonDecision, pairCount, withInterval } from './gate-comparison.ts'

/** A gate as far as its trials have come. */
export interface GateStanding {
  readonly settings: ReleaseGate
  readonly pairs: ComparedPairs
  /** Number of cases by which both versions are compared. */
  readonly comparedCases: number
  /** Blocking cases that are judged by their own pass policy; `open` have trials that have not ended. */
  readonly absolute: {
    readonly cases: number
    readonly open: number
    readonly failed: number
    readonly errored: number
    readonly invalid: number
  }
  /** Null: no rate card prices the trials. */
  readonly spentUsd: number | null
  /** Pairs that `maximumTrials` leaves room for. */
  readonly allowedPairs: number
}

export interface GateOutcome {
  readonly verdict: 'passed' | 'failed' | 'errored'
  readonly reason: GateEvidence['reason']
}

const failed = (reason: GateEvidence['reason']): GateOutcome => ({ verdict: 'failed', reason })
const ERRORED: GateOutcome = { verdict: 'errored', reason: 'trials_errored' }

/** The result of the gate; null: more trials are needed. */
export function gateOutcome(standing: GateStanding): GateOutcome | null {
  const { settings, pairs, comparedCases, absolute, spentUsd, allowedPairs } = standing
  if (absolute.invalid > 0) return failed('case_invalid')
  if (comparedCases + absolute.cases === 0) return failed('no_cases')
  if (absolute.failed > 0) return failed('case_failed')
  if (absolute.errored > 0) return ERRORED
  const decision = comparedCases === 0 ? 'not_worse' : comparisonDecision(pairs, settings, comparedCases)
  if (decision === 'worse') return failed('worse')
  if (decision === 'errored') return ERRORED
  if (decision === 'not_worse' && absolute.open === 0) return { verdict: 'passed', reason: null }
  if (allowedPairs < 0 || (decision === 'continue' && pairCount(pairs) >= allowedPairs)) return failed('maximum_trials')
  const { maximumUsd } = settings
  if (maximumUsd !== undefined && spentUsd !== null && spentUsd >= Number(maximumUsd)) return failed('maximum_usd')
  return null
}

/** What is stored and signed of a gate with a result. `absolute`: trials of its blocking cases that were judged alone. */
export function gateEvidence(
  { pairs, comparedCases }: Pick<GateStanding, 'pairs' | 'comparedCases'>,
  reason: GateEvidence['reason'],
  counted: {
    readonly method: GateEvidence['method']
    readonly trials: number
    readonly absolute: { readonly passed: number; readonly trials: number }
    readonly measuredUsd: number | null
  },
): GateEvidence {
  const { method, trials, absolute, measuredUsd } = counted
  const common = { method, reason, pairs: pairCount(pairs), trials, measured_usd: measuredUsd }
  if (comparedCases === 0) return { ...common, candidate: withInterval(absolute), predecessor: null, difference: null }
  return { ...common, ...comparedRates(pairs) }
}
