import { randomBelow, SeededRandom } from '@parley/kernel'

/** A pair of trials of the schedule: the case by its index, and the number of the trial, from 1. */
interface ScheduledPair {
  readonly pair: number
  readonly caseIndex: number
  readonly trial: number
}

/**
 * The pairs from number `from` (0 is the first) to `from + count - 1`. Each round of `cases` pairs has every case once, in an order
 * that depends on the number of the round alone, so that a test that ends within a round favours no case.
 */
export function scheduledPairs(from: number, count: number, cases: number): ScheduledPair[] {
  const pairs: ScheduledPair[] = []
  let round = -1
  let order: readonly number[] = []
  for (let pair = from; pair < from + count; pair++) {
    if (Math.floor(pair / cases) !== round) {
      round = Math.floor(pair / cases)
      order = shuffled(cases, round)
    }
    pairs.push({ pair, caseIndex: order[pair % cases]!, trial: round + 1 })
  }
  return pairs
}

/** The numbers 0 to `count - 1` in an order made of the seed (Fisher and Yates). */
function shuffled(count: number, seed: number): number[] {
  const random = new SeededRandom(seed)
  const order = Array.from({ length: count }, (_, index) => index)
  for (let last = count - 1; last > 0; last--) {
    const other = randomBelow(random, last + 1)
    ;[order[last], order[other]] = [order[other]!, order[last]!]
  }
  return order
}
