import { describe, expect, it } from 'vitest'
import { SourceLatch } from './source-latch.ts'

const PEER = 0xc0000201
const OTHER = 0xc6336401

describe('source latch, plain RTP', () => {
  it('plain RTP is accepted only from the address in the SDP; the first packet fixes port and SSRC', () => {
    const latch = new SourceLatch()
    latch.announce(PEER, 4000, false)
    expect(latch.mayHear(OTHER, 4000)).toBe(false)
    expect(latch.mayHear(PEER, 4711)).toBe(true)
    expect(latch.hear(0, PEER, 4711, 7)).toBe(true)
    expect([latch.ipv4, latch.port]).toEqual([PEER, 4711])
    expect(latch.mayHear(PEER, 4000)).toBe(false)
    expect(latch.hear(1, PEER, 4711, 8)).toBe(false)
    expect(latch.hear(2, PEER, 4711, 7)).toBe(true)
  })

  it('the next offer/answer resets the latch of plain RTP', () => {
    const latch = new SourceLatch()
    latch.announce(PEER, 4000, false)
    latch.hear(0, PEER, 4711, 7)
    latch.announce(OTHER, 5000, false)
    expect([latch.ipv4, latch.port]).toEqual([OTHER, 5000])
    expect(latch.mayHear(PEER, 4711)).toBe(false)
    expect(latch.mayHear(OTHER, 5000)).toBe(true)
  })

  it('plain RTP is refused while the peer has no address', () => {
    const latch = new SourceLatch()
    latch.announce(0, 0, false)
    expect(latch.mayHear(0, 0)).toBe(false)
    expect(latch.mayHear(PEER, 1)).toBe(false)
  })
})

describe('source latch, SRTP (packets that verified)', () => {
  it('SRTP is sent to the address of the first verified packet, and moves to another only after silence', () => {
    const latch = new SourceLatch()
    latch.announce(PEER, 4000, true)
    expect(latch.mayHear(OTHER, 1)).toBe(true)
    latch.hear(0, OTHER, 1, 7)
    expect([latch.ipv4, latch.port]).toEqual([OTHER, 1])
    latch.hear(100, OTHER, 2, 7)
    expect(latch.port).toBe(1)
    latch.hear(700, OTHER, 3, 7)
    expect(latch.port).toBe(3)
  })

  it('a re-INVITE with the same address keeps the latched address of SRTP', () => {
    const latch = new SourceLatch()
    latch.announce(PEER, 4000, true)
    latch.hear(0, OTHER, 1, 7)
    latch.announce(PEER, 4000, true)
    expect([latch.ipv4, latch.port]).toEqual([OTHER, 1])
    latch.hear(10, OTHER, 1, 7)
    latch.announce(PEER, 4002, true)
    expect([latch.ipv4, latch.port]).toEqual([PEER, 4002])
  })
})
