import { describe, expect, it } from 'vitest'
import { KnownPeers } from './known-peers.ts'

describe('addresses that we called', () => {
  it('an address that we called is known for ten minutes after the last call', () => {
    const known = new KnownPeers()
    known.note('192.0.2.1', 0)
    known.note('192.0.2.1', 60_000)
    expect(known.has('192.0.2.1', 659_999)).toBe(true)
    expect(known.has('192.0.2.1', 660_000)).toBe(false)
    expect(known.has('192.0.2.2', 1)).toBe(false)
  })

  it('the ten thousand addresses that were called last are known, and older ones are forgotten', () => {
    const known = new KnownPeers()
    for (let i = 0; i < 30_000; i++) known.note(`peer-${i}`, i)
    expect(known.has('peer-0', 30_000)).toBe(false)
    expect(known.has('peer-20000', 30_000)).toBe(true)
    expect(known.has('peer-29999', 30_000)).toBe(true)
  })
})
