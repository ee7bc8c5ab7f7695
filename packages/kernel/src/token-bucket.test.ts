import { describe, expect, it } from 'vitest'
import { TokenBucket, TokenBuckets } from './token-bucket.ts'

/** Tokens that are taken when `requests` arrive at once. */
function taken(bucket: TokenBucket, requests: number, now: number): number {
  return Array.from({ length: requests }, () => bucket.take(now)).filter(Boolean).length
}

describe('a token bucket', () => {
  it('a token bucket gives its burst at once and then its rate', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 30 }, 0)
    expect([taken(bucket, 100, 0), taken(bucket, 100, 500), taken(bucket, 100, 60_000)]).toEqual([30, 5, 30])
  })

  it('a clock that is set back neither adds nor removes tokens', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 10 }, 10_000)
    expect([taken(bucket, 4, 10_000), taken(bucket, 100, 0), taken(bucket, 100, 100)]).toEqual([4, 6, 1])
  })

  it('the level of a token bucket says how long to wait for a token', () => {
    const bucket = new TokenBucket({ perSecond: 0.5, burst: 2 }, 0)
    expect(bucket.level(0)).toMatchObject({ remaining: 2, fullInSeconds: 0, waitSeconds: 0 })
    taken(bucket, 2, 0)
    expect(bucket.level(0)).toMatchObject({ remaining: 0, fullInSeconds: 4, waitSeconds: 2 })
    expect(bucket.level(2000)).toMatchObject({ remaining: 1, fullInSeconds: 2, waitSeconds: 0 })
  })

  it('a token bucket whose rate is changed keeps its tokens as far as the new burst allows', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 10 }, 0)
    bucket.setRate({ perSecond: 100, burst: 3 })
    expect([taken(bucket, 100, 0), taken(bucket, 100, 20)]).toEqual([3, 2])
  })
})

describe('token buckets', () => {
  it('the number of token buckets is bounded, and the ones used last are kept', () => {
    const buckets = new TokenBuckets(3)
    const rate = { perSecond: 1, burst: 2 }
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) buckets.take(name, rate, 0)
    expect(buckets.size).toBeLessThan(6)
    expect(buckets.level('a', rate, 0).remaining).toBe(2)
    for (const name of ['e', 'f', 'g']) expect(buckets.level(name, rate, 0).remaining).toBe(1)
  })

  it('asking for the level of a new name stores no token bucket', () => {
    const buckets = new TokenBuckets(3)
    buckets.level('a', { perSecond: 1, burst: 1 }, 0)
    expect(buckets.size).toBe(0)
  })
})
