/** Weakens the difference between the first places. The 60 of the paper is for many rankings of a thousand items each. */
const K = 5

/** An item of a ranking: equal scores share a place. */
export interface RankedItem {
  readonly key: string
  readonly score: number
}

/**
 * Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): an item of several rankings, each the best first, scores the sum of
 * 1 / (5 + rank) over those that contain it. Items with equal scores all have the mean of their ranks: a ranking that cannot tell
 * them apart then prefers none of them. Returns the keys, the best first; equal ones in the order of the rankings.
 */
export function fusedRanking(rankings: readonly (readonly RankedItem[])[]): string[] {
  const scores = new Map<string, number>()
  for (const ranking of rankings) {
    for (let first = 0; first < ranking.length; ) {
      let end = first + 1
      while (end < ranking.length && ranking[end]!.score === ranking[first]!.score) end++
      const rank = (first + 1 + end) / 2
      for (const { key } of ranking.slice(first, end)) scores.set(key, (scores.get(key) ?? 0) + 1 / (K + rank))
      first = end
    }
  }
  return [...scores].sort(([, one], [, other]) => other - one).map(([key]) => key)
}
