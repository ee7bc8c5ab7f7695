import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { keyHash, newKeySecret } from './api-keys.ts'

describe('the secret of a key', () => {
  it('the secret of a key names its environment in its prefix, and 18 characters of it are shown later', () => {
    const live = newKeySecret('production', new SeededRandom(1))
    expect(live.secret).toMatch(/^parley_live_[0-9A-Za-z]{40}$/)
    expect(live.prefix).toBe(live.secret.slice(0, 18))
    expect(live.hash).toEqual(keyHash(live.secret))
    expect(live.hash).toHaveLength(32)
    expect(newKeySecret('sandbox', new SeededRandom(1)).secret).toMatch(/^parley_test_[0-9A-Za-z]{40}$/)
  })

  it('the secret of a key uses each of its 62 characters equally often', () => {
    const random = new SeededRandom(7)
    const counts = new Map<string, number>()
    const keys = 2000
    for (let i = 0; i < keys; i++)
      for (const character of newKeySecret('production', random).secret.slice(12))
        counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(62)
    const expected = (keys * 40) / 62
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 61 degrees of freedom: above 110 with a probability of 1 in 10,000; bytes modulo 62 give some 1,600.
    expect(chiSquare).toBeLessThan(110)
  })
})
