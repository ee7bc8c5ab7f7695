/** Weakens the difference between the first places, as in the method's paper. */
const K = 60

/**
 * Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): an item of several rankings scores the sum of 1 / (60 + rank) over
 * those that contain it. Returns the keys, the best first; equal ones in the order of the rankings.
 */
export function fusedRanking(rankings: readonly (readonly string[])[]): string[] {
  const scores = new Map<string, number>()
  for (const ranking of rankings)
    for (const [index, key] of ranking.entries()) scores.set(key, (scores.get(key) ?? 0) + 1 / (K + index + 1))
  return [...scores].sort(([, one], [, other]) => other - one).map(([key]) => key)
}
