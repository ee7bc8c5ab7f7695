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

  it('at most ten thousand called addresses are known; the address called longest ago is removed first', () => {
    const known = new KnownPeers()
    for (let i = 0; i < 10_001; i++) known.note(`peer-${i}`, i)
    expect(known.has('peer-0', 10_001)).toBe(false)
    expect(known.has('peer-1', 10_001)).toBe(true)
    expect(known.has('peer-10000', 10_001)).toBe(true)
  })
})
