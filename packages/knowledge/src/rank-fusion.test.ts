import { describe, expect, it } from 'vitest'
import { fusedRanking } from './rank-fusion.ts'

/** A ranking whose items have these scores. */
const ranking = (scores: Readonly<Record<string, number>>) =>
  Object.entries(scores).map(([key, score]) => ({ key, score }))

describe('fused rankings', () => {
  it('an item that both rankings place well comes before those of one ranking', () => {
    expect(fusedRanking([ranking({ a: 3, b: 2, c: 1 }), ranking({ d: 3, b: 2, e: 1 })])[0]).toBe('b')
  })

  it('a ranking that cannot tell its items apart does not change the order of the other one', () => {
    const alike = Object.fromEntries(['z', 'y', 'x', 'c', 'b', 'a'].map(key => [key, 1]))
    const fused = fusedRanking([ranking({ a: 3, b: 2, c: 1 }), ranking(alike)])
    expect(fused.slice(0, 3)).toEqual(['a', 'b', 'c'])
  })

  it('an item that one ranking alone prefers to many alike ones comes first', () => {
    const words = { code: 9, ...Object.fromEntries(Array.from({ length: 40 }, (_none, index) => [`w${index}`, 1])) }
    const vectors = Object.fromEntries(Array.from({ length: 40 }, (_none, index) => [`w${39 - index}`, 50 - index]))
    expect(fusedRanking([ranking(vectors), ranking(words)]).slice(0, 5)).toContain('code')
  })

  it('rankings without items have no order', () => {
    expect(fusedRanking([[], []])).toEqual([])
  })
})
