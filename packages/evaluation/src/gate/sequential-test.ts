import { normalQuantile } from './normal-quantile.ts'

/** Error rates of a release gate. Differences are of the mean probability to pass, 0.1 for ten points. */
export interface ErrorRates {
  /** How often a candidate that is worse by `minimumEffect` passes, at most. */
  readonly maximumFalsePass: number
  /** How often a candidate that is as good as its predecessor is blocked, at most. */
  readonly maximumFalseBlock: number
  readonly minimumEffect: number
}

/** Results of pairs: one trial of the same case by the predecessor and one by the candidate. */
interface PairCounts {
  readonly pairs: number
  /** Pairs that the predecessor passed and the candidate did not. */
  readonly predecessorOnly: number
  /** Pairs that the candidate passed and the predecessor did not. */
  readonly candidateOnly: number
}

/** `not_worse`: the candidate passes; `worse`: it is blocked; `continue`: the pairs do not decide yet. */
type SequentialDecision = 'continue' | 'not_worse' | 'worse'

/** Pairs at the end of the test, as a multiple of those of the fixed plan. */
const LONGEST = 1.5
/** Added to the boundaries, in units of the log ratio: the share of unequal pairs is estimated, and early estimates are noisy. */
const BLOCK_MARGIN = 0.12
const PASS_MARGIN = 0.09

/**
 * Decides by a sequential probability ratio test (Wald 1945) whether the candidate is worse by `minimumEffect` or as good as its
 * predecessor. The ratio is that of the trinomial likelihoods of the pairs, each at the share of unequal pairs that fits it best.
 * At {@link mostPairs} the nearer boundary decides. A function of the counts alone.
 */
export function sequentialDecision(counts: PairCounts, rates: ErrorRates): SequentialDecision {
  if (counts.pairs === 0) return 'continue'
  const { maximumFalsePass: beta, maximumFalseBlock: alpha, minimumEffect: effect } = rates
  const ratio = logLikelihood(counts, effect) - logLikelihood(counts, 0)
  // Rates that are large together decide at once: their boundaries would be on the other side of 0.
  const upper = Math.max(0, Math.log((1 - beta) / alpha)) + BLOCK_MARGIN
  const lower = Math.min(0, Math.log(beta / (1 - alpha))) - PASS_MARGIN
  if (ratio >= upper) return 'worse'
  if (ratio <= lower) return 'not_worse'
  if (counts.pairs < mostPairs(rates)) return 'continue'
  return ratio > (upper + lower) / 2 ? 'worse' : 'not_worse'
}

/** Pairs after which the test decides in any case: at most 1.5 times those of the fixed plan that keeps its error rates at every pass rate. */
export function mostPairs(rates: ErrorRates): number {
  return Math.max(1, Math.floor(LONGEST * fixedPlanPairs(rates)))
}

/** Largest variance of the difference within a pair of independent trials. */
const MOST_VARIANCE = 0.5

/** Pairs of a plan of fixed size that keeps these error rates whatever the pass rates are. */
export function fixedPlanPairs(rates: ErrorRates): number {
  const z = normalQuantile(1 - rates.maximumFalseBlock) + normalQuantile(1 - rates.maximumFalsePass)
  return (Math.max(0, z) ** 2 * MOST_VARIANCE) / rates.minimumEffect ** 2
}

/** The largest log likelihood among shares of pairs that only the predecessor (`a`) or only the candidate (`a - loss`) passed. */
function logLikelihood({ pairs, predecessorOnly, candidateOnly }: PairCounts, loss: number): number {
  const equal = pairs - predecessorOnly - candidateOnly
  const linear = predecessorOnly * (1 + 3 * loss) + candidateOnly * (1 + loss) + 2 * equal * loss
  const constant = predecessorOnly * loss * (1 + loss)
  const root = (linear + Math.sqrt(Math.max(0, linear ** 2 - 8 * pairs * constant))) / (4 * pairs)
  const a = Math.min((1 + loss) / 2, Math.max(loss, root))
  return weighted(predecessorOnly, a) + weighted(candidateOnly, a - loss) + weighted(equal, 1 + loss - 2 * a)
}

function weighted(count: number, probability: number): number {
  // Rounding may leave a share that the counts exclude slightly above or below 0.
  return count === 0 ? 0 : count * Math.log(Math.max(probability, 1e-12))
}
