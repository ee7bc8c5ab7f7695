import { describe, expect, it } from 'vitest'
import { Admission, type AdmissionSlot } from './admission.ts'
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from './stream-limits.ts'

/** An admission whose evicted connections are recorded by their labels. */
class Gate {
  readonly admission: Admission
  readonly evicted: string[] = []

  constructor(limits: Partial<StreamLimits>) {
    this.admission = new Admission({ ...DEFAULT_STREAM_LIMITS, knownShare: 0, ...limits })
  }

  admit(address: string, handshake: boolean, label = address, isKnown = false): AdmissionSlot | undefined {
    return this.admission.admit({ address, handshake, isKnown, evict: () => this.evicted.push(label) })
  }
}

describe('admission of connections', () => {
  it('connections are limited in total and per peer, and a closed connection frees its place', () => {
    const gate = new Gate({ maxAccepted: 3, maxPerPeer: 2 })
    const first = gate.admit('192.0.2.1', false)!
    const second = gate.admit('192.0.2.1', false)!
    expect(gate.admit('192.0.2.1', false)).toBeUndefined()
    const third = gate.admit('192.0.2.2', false)!
    for (const slot of [first, second, third]) slot.answered()
    expect(gate.admit('192.0.2.3', false)).toBeUndefined()
    second.release()
    second.release()
    expect(gate.admission).toMatchObject({ accepted: 2, handshakes: 0, refused: 2, evicted: 0 })
    expect(gate.admit('192.0.2.1', false)).toBeDefined()
    expect(gate.evicted).toEqual([])
  })

  it('one peer cannot occupy all places for handshakes', () => {
    const gate = new Gate({ maxHandshakes: 6, maxHandshakesPerPeer: 2 })
    const first = gate.admit('192.0.2.1', true)!
    expect(gate.admit('192.0.2.1', true)).toBeDefined()
    expect(gate.admit('192.0.2.1', true)).toBeUndefined()
    expect(gate.admit('192.0.2.1', false)).toBeDefined()
    expect(gate.admit('192.0.2.2', true)).toBeDefined()
    first.handshakeDone()
    expect(gate.admit('192.0.2.1', true)).toBeDefined()
    expect(gate.admit('192.0.2.1', true)).toBeUndefined()
  })

  it('all addresses of one IPv6 /64 count as one peer, and those of one /48 as one site', () => {
    const gate = new Gate({ maxPerPeer: 1, maxPerSite: 2 })
    expect(gate.admit('2001:db8:1:2::1', false)).toBeDefined()
    expect(gate.admit('2001:db8:1:2:ffff::9', false)).toBeUndefined()
    const second = gate.admit('2001:db8:1:3::1', false)
    expect(second).toBeDefined()
    expect(gate.admit('2001:db8:1:4::1', false)).toBeUndefined()
    expect(gate.admit('2001:db8:2:4::1', false)).toBeDefined()
    second?.release()
    expect(gate.admit('2001:db8:1:4::1', false)).toBeDefined()
    expect(gate.admit('::ffff:192.0.2.1', false)).toBeDefined()
    expect(gate.admit('192.0.2.1', false)).toBeUndefined()
  })

  it('handshakes of one IPv6 /48 are limited', () => {
    const gate = new Gate({ maxHandshakes: 9, maxHandshakesPerPeer: 1, maxHandshakesPerSite: 2 })
    const from = (subnet: number) => gate.admit(`2001:db8:1:${subnet}::1`, true)
    expect([1, 2, 3].map(from).map(slot => slot !== undefined)).toEqual([true, true, false])
  })
})

describe('a newcomer when every place is taken', () => {
  it('four addresses with 256 unfinished handshakes keep nobody out: their oldest handshakes make room', () => {
    const gate = new Gate({ ...DEFAULT_STREAM_LIMITS })
    for (let i = 0; i < 256; i++) gate.admit(`203.0.113.${i % 4}`, true, `stalled ${i}`)
    for (let i = 0; i < 50; i++) {
      const slot = gate.admit(`198.51.100.${i}`, true, `caller ${i}`)
      expect(slot, `caller ${i}`).toBeDefined()
      slot!.handshakeDone()
      slot!.answered()
    }
    // 192 places are for unknown addresses: the last 64 were refused. One place is enough for callers who come one after another.
    expect(gate.evicted).toEqual(['stalled 0'])
    expect(gate.admission).toMatchObject({ accepted: 191 + 50, refused: 64 })
  })

  it('the handshake of a caller outlives those of addresses that hold more', () => {
    const gate = new Gate({ maxHandshakes: 5 })
    gate.admit('198.51.100.1', true, 'caller')
    for (let i = 0; i < 20; i++) gate.admit(`203.0.113.${1 + (i % 2)}`, true, `stalled ${i}`)
    gate.admit('198.51.100.2', true, 'next caller')
    expect(gate.evicted).toEqual(['stalled 0'])
  })

  it('addresses that hold all places and ask again are refused and do not displace each other', () => {
    const gate = new Gate({ ...DEFAULT_STREAM_LIMITS, knownShare: 0.25 })
    for (let i = 0; i < 10_000; i++) gate.admit(`203.0.113.${i % 5}`, true)
    expect(gate.admission).toMatchObject({ handshakes: 192, evicted: 0, refused: 10_000 - 192 })
  })

  it('a site with fewer handshakes takes the places of one with more until they are equal', () => {
    const gate = new Gate({ maxHandshakes: 6 })
    for (let i = 0; i < 6; i++) gate.admit('203.0.113.1', true, `stalled ${i}`)
    const others = Array.from({ length: 6 }, () => gate.admit('198.51.100.1', true, 'other'))
    expect(others.map(slot => slot !== undefined)).toEqual([true, true, true, false, false, false])
    expect(gate.evicted).toEqual(['stalled 0', 'stalled 1', 'stalled 2'])
  })

  it('among equal sites the oldest handshake makes room, and one IPv6 /48 is one site', () => {
    const gate = new Gate({ maxHandshakes: 4 })
    gate.admit('198.51.100.1', true, 'a')
    gate.admit('2001:db8:1:1::1', true, 'b')
    gate.admit('2001:db8:1:2::1', true, 'c')
    gate.admit('198.51.100.2', true, 'd')
    gate.admit('198.51.100.3', true, 'e')
    gate.admit('198.51.100.4', true, 'f')
    expect(gate.evicted).toEqual(['b', 'a'])
  })

  it('ten addresses that fill all connections keep nobody out, and an answered connection stays', () => {
    const gate = new Gate({ maxAccepted: 100, maxPerPeer: 10 })
    const caller = gate.admit('198.51.100.1', false, 'caller')!
    caller.answered()
    for (let i = 0; i < 100; i++) gate.admit(`203.0.113.${i % 10}`, false, `silent ${i}`)
    expect(gate.admit('198.51.100.2', false, 'next caller')).toBeDefined()
    expect(gate.evicted).toEqual(['silent 0'])
    expect(gate.admission).toMatchObject({ accepted: 100, refused: 1, evicted: 1 })
  })

  it('an evicted connection that reports its end frees no second place', () => {
    const gate = new Gate({ maxAccepted: 1 })
    const first = gate.admit('203.0.113.1', true)!
    gate.admit('203.0.113.2', true)
    first.handshakeDone()
    first.release()
    expect(gate.admission).toMatchObject({ accepted: 1, handshakes: 1 })
  })
})

describe('known addresses', () => {
  it('a quarter of the places is reserved for them', () => {
    const gate = new Gate({ maxAccepted: 8, maxHandshakes: 8, knownShare: 0.25 })
    for (let i = 0; i < 8; i++) gate.admit(`203.0.113.${i}`, false, `unknown ${i}`)?.answered()
    expect(gate.admission).toMatchObject({ accepted: 6, refused: 2 })
    expect(gate.admit('192.0.2.1', false, 'trunk', true)).toBeDefined()
    expect(gate.admit('192.0.2.1', false, 'trunk', true)).toBeDefined()
    expect(gate.admit('192.0.2.1', false, 'trunk', true)).toBeUndefined()
  })

  it('known addresses take the places of unfinished handshakes beyond their reserve, and never make room themselves', () => {
    const gate = new Gate({ maxHandshakes: 4, knownShare: 0.25 })
    for (let i = 0; i < 3; i++) gate.admit(`203.0.113.${i}`, true, `unknown ${i}`)
    for (let i = 0; i < 4; i++) expect(gate.admit('192.0.2.1', true, 'trunk', true)).toBeDefined()
    expect(gate.evicted).toEqual(['unknown 0', 'unknown 1', 'unknown 2'])
    expect(gate.admit('203.0.113.9', true)).toBeUndefined()
    expect(gate.evicted).not.toContain('trunk')
  })
})
