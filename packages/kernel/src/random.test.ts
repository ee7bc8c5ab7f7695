import { describe, expect, it } from 'vitest'
import { systemRandom } from './io/system.ts'
import { type Random, randomBelow, randomToken, SeededRandom } from './random.ts'

/** Returns the given 32-bit words, big-endian. */
function scripted(...words: number[]): Random {
  return {
    bytes(length) {
      expect(length).toBe(4)
      const out = new Uint8Array(4)
      new DataView(out.buffer).setUint32(0, words.shift()!)
      return out
    },
  }
}

describe('randomBelow', () => {
  it('randomBelow rejects surplus values instead of favouring small numbers', () => {
    // 2^32 = 3 * 1431655765 + 1: only the topmost word is surplus.
    expect(randomBelow(scripted(0xffff_ffff, 0xffff_fffe), 3)).toBe(2)
    expect(randomBelow(scripted(0xffff_ffff), 2 ** 32)).toBe(0xffff_ffff)
    expect(randomBelow(scripted(12345), 1)).toBe(0)
  })

  it('randomBelow throws for bounds outside 1 to 2^32', () => {
    for (const bound of [0, -1, 1.5, Number.NaN, 2 ** 32 + 1])
      expect(() => randomBelow(new SeededRandom(1), bound)).toThrow(RangeError)
  })

  it.each([
    ['seeded', new SeededRandom(7)],
    ['system', systemRandom],
  ] as const)('is uniform (%s)', (_name, random) => {
    const counts = new Array<number>(10).fill(0)
    const rounds = 20_000
    for (let i = 0; i < rounds; i++) counts[randomBelow(random, counts.length)]!++
    const expected = rounds / counts.length
    const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 9 degrees of freedom: once in 10^7 by chance.
    expect(chiSquared).toBeLessThan(51)
  })
})

describe('SeededRandom', () => {
  it('SeededRandom returns the same bytes for the same seed, and others for another seed', () => {
    const take = (seed: number) => Buffer.from(new SeededRandom(seed).bytes(64)).toString('hex')
    expect(take(1)).toBe(take(1))
    expect(new Set([0, 1, 2, 2 ** 31, 2 ** 32 - 1].map(take)).size).toBe(5)
  })

  it('SeededRandom returns the same bytes for one long read and many short ones', () => {
    const pieces = new SeededRandom(5)
    const joined = [...pieces.bytes(3), ...pieces.bytes(0), ...pieces.bytes(29)]
    expect(joined).toEqual([...new SeededRandom(5).bytes(32)])
  })
})

describe('randomToken', () => {
  it('randomToken has the requested length and only characters that never need quoting', () => {
    expect(randomToken(systemRandom, 400)).toMatch(/^[a-z2-7]{400}$/)
    expect(randomToken(systemRandom, 26)).not.toBe(randomToken(systemRandom, 26))
  })
})

describe('systemRandom', () => {
  it('systemRandom never returns the same bytes twice, and what it returned is not changed by later calls', () => {
    const first = systemRandom.bytes(16)
    const copy = Buffer.from(first).toString('hex')
    const seen = new Set<string>()
    for (let i = 0; i < 2000; i++) seen.add(Buffer.from(systemRandom.bytes(i % 2 === 0 ? 16 : 600)).toString('hex'))
    expect(seen.size).toBe(2000)
    expect(Buffer.from(first).toString('hex')).toBe(copy)
  })
})
