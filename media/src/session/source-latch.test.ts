import { describe, expect, it } from 'vitest'
import { packSourceRules } from './followed-sources.ts'
import { SourceLatch } from './source-latch.ts'

const PEER = 0xc0000201
const OTHER = 0xc6336401
const PRIVATE = 0xc0a80105

function announced(port: number, secure = false, ipv4 = PEER) {
  return { ipv4, port, secure, reachable: true, learnFrom: [] }
}

/** A latch on plain RTP that has heard a source from PEER:4711 with SSRC 7 at 0 ms. */
function latched(): SourceLatch {
  const latch = new SourceLatch()
  latch.announce(announced(4000))
  expect(latch.hear(0, PEER, 4711, 7, 100, true)).toBe(true)
  return latch
}

/** Sends packets every 20 ms, and returns at which times they were accepted. */
function stream(latch: SourceLatch, source: { port: number; ssrc: number }, fromMs: number, untilMs: number): number[] {
  const accepted: number[] = []
  for (let at = fromMs, sequence = 9000; at < untilMs; at += 20, sequence++) {
    if (latch.hear(at, PEER, source.port, source.ssrc, sequence, true)) accepted.push(at)
  }
  return accepted
}

describe('source latch, plain RTP', () => {
  it('plain RTP is accepted only from the address in the SDP; the first packet fixes port and SSRC', () => {
    const latch = new SourceLatch()
    latch.announce(announced(4000))
    expect(latch.mayHear(OTHER)).toBe(false)
    expect(latch.mayHear(PEER)).toBe(true)
    expect(latch.hear(0, PEER, 4711, 7, 1, true)).toBe(true)
    expect([latch.ipv4, latch.port]).toEqual([PEER, 4711])
    expect(latch.hear(1, PEER, 4711, 8, 1, true)).toBe(false)
    expect(latch.hear(2, PEER, 4000, 7, 2, true)).toBe(false)
    expect(latch.hear(3, PEER, 4711, 7, 2, true)).toBe(true)
  })

  it('the next offer/answer resets the latch of plain RTP', () => {
    const latch = latched()
    latch.announce(announced(5000, false, OTHER))
    expect([latch.ipv4, latch.port]).toEqual([OTHER, 5000])
    expect(latch.mayHear(PEER)).toBe(false)
    expect(latch.mayHear(OTHER)).toBe(true)
  })

  it('plain RTP is refused while the peer has no address', () => {
    const latch = new SourceLatch()
    latch.announce({ ...announced(0, false, 0), learnFrom: [{ ipv4: PEER, prefixBits: 32 }] })
    expect(latch.mayHear(0)).toBe(false)
    expect(latch.mayHear(PEER)).toBe(false)
  })

  it.each([
    ['SSRC', { port: 4711, ssrc: 8 }],
    ['port', { port: 4999, ssrc: 7 }],
    ['SSRC and port', { port: 4999, ssrc: 8 }],
  ])('a new %s of the same address is taken 200 ms after the old source fell silent', (_, source) => {
    const latch = latched()
    expect(stream(latch, source, 20, 300)[0]).toBe(200)
    expect(latch.port).toBe(source.port)
    expect(latch.conflicts).toBe(0)
  })

  it('a new source is not taken while the old one sends', () => {
    const latch = latched()
    for (let at = 20; at < 5000; at += 20) {
      expect(latch.hear(at, PEER, 4711, 7, 100 + at / 20, true)).toBe(true)
      expect(latch.hear(at, PEER, 4711, 8, 9000 + at / 20, true)).toBe(false)
    }
    expect(latch.port).toBe(4711)
  })

  it('a new source is taken only with three packets in sequence, all with the negotiated payload type', () => {
    const gaps = latched()
    for (let at = 300, sequence = 1; at < 3000; at += 20, sequence += 2) {
      expect(gaps.hear(at, PEER, 4711, 8, sequence, true)).toBe(false)
    }
    const otherPayload = latched()
    for (let at = 300, sequence = 1; at < 3000; at += 20, sequence++) {
      expect(otherPayload.hear(at, PEER, 4711, 8, sequence, sequence % 3 !== 0)).toBe(false)
    }
    const three = latched()
    expect([0xffff, 0, 1].map((sequence, i) => three.hear(300 + i, PEER, 4711, 8, sequence, true))).toEqual([
      false,
      false,
      true,
    ])
  })

  it('an old source that sends again within 2 s takes its place back, which counts as a conflict', () => {
    const latch = latched()
    stream(latch, { port: 4999, ssrc: 8 }, 20, 2000)
    expect(latch.hear(2000, PEER, 4711, 7, 101, true)).toBe(true)
    expect(latch.conflicts).toBe(1)
    expect(latch.port).toBe(4711)
    expect(latch.hear(2020, PEER, 4999, 8, 9200, true)).toBe(false)
  })

  it('an old source that sends again after more than 2 s is a new source', () => {
    const latch = latched()
    stream(latch, { port: 4999, ssrc: 8 }, 20, 2400)
    expect(latch.hear(2400, PEER, 4711, 7, 101, true)).toBe(false)
    expect(latch.conflicts).toBe(0)
  })
})

it.each([true, false])('a source at a port below 1024 is never sent to (secure: %s)', secure => {
  const latch = new SourceLatch()
  latch.announce(announced(4000, secure))
  expect(latch.hear(0, PEER, 53, 7, 1, true)).toBe(secure)
  expect(latch.port).toBe(4000)
})

it.each([true, false])(
  'a source that the rules of the next offer/answer exclude is sent to no more, though the description names the same address (secure: %s)',
  secure => {
    const latch = new SourceLatch()
    latch.announce(announced(4000, secure))
    latch.hear(0, PEER, 4711, 7, 1, true)
    latch.announce(announced(4000, secure))
    expect(latch.port).toBe(4711)
    latch.hear(20, PEER, 4711, 7, 2, true)
    const sourceRules = packSourceRules([
      { ipv4: PEER, prefixBits: 32, ports: { from: 4711, to: 4711 }, isFollowed: false },
    ])
    latch.announce({ ...announced(4000, secure), sourceRules })
    expect([latch.ipv4, latch.port]).toEqual([PEER, 4000])
    expect(latch.refused).toBe(1)
  },
)

describe('source latch, a peer behind a NAT', () => {
  const behindNat = {
    ...announced(4000, false, PRIVATE),
    reachable: false,
    learnFrom: [{ ipv4: PEER, prefixBits: 24 }],
  }

  it('a private address in the SDP is replaced by the source of the first packet from an allowed network', () => {
    const latch = new SourceLatch()
    latch.announce(behindNat)
    expect(latch.port).toBe(0)
    expect(latch.mayHear(OTHER)).toBe(false)
    expect(latch.mayHear(PEER + 1)).toBe(true)
    expect(latch.hear(0, PEER + 1, 61_000, 7, 1, true)).toBe(true)
    expect([latch.ipv4, latch.port]).toEqual([PEER + 1, 61_000])
    expect(latch.mayHear(PEER)).toBe(false)
  })

  it('a re-INVITE with the same private address continues sending to the learnt one', () => {
    const latch = new SourceLatch()
    latch.announce(behindNat)
    latch.hear(0, PEER, 61_000, 7, 1, true)
    latch.announce(behindNat)
    expect([latch.ipv4, latch.port]).toEqual([PEER, 61_000])
  })
})

describe('a source that nothing may be sent to', () => {
  const sourceRules = packSourceRules([
    { ipv4: 0xc0a8_0100, prefixBits: 28, isFollowed: true },
    { ipv4: 0xc0a8_0000, prefixBits: 16, isFollowed: false },
    { ipv4: PEER, prefixBits: 32, ports: { from: 30_000, to: 30_999 }, isFollowed: false },
  ])

  it('SRTP from there is heard and never answered, neither before another source nor after its silence; each source counts once', () => {
    const latch = new SourceLatch()
    latch.announce({ ...announced(4000, true), sourceRules })
    for (const at of [0, 20, 40]) expect(latch.hear(at, PRIVATE + 16, 5000, 7, at, true)).toBe(true)
    expect([latch.ipv4, latch.port, latch.refused]).toEqual([PEER, 4000, 1])
    latch.hear(60, PEER, 4711, 7, 60, true)
    for (const at of [1000, 1020]) latch.hear(at, PEER, 30_002, 7, at, true)
    expect([latch.ipv4, latch.port, latch.refused]).toEqual([PEER, 4711, 2])
    latch.hear(2000, PRIVATE, 5000, 7, 100, true)
    expect([latch.ipv4, latch.port, latch.refused]).toEqual([PRIVATE, 5000, 2])
  })

  it('the announced address is answered from its announced port whatever the rules say', () => {
    for (const secure of [true, false]) {
      const latch = new SourceLatch()
      latch.announce({ ...announced(30_002, secure), sourceRules })
      expect(latch.hear(0, PEER, 30_002, 7, 1, true)).toBe(true)
      expect([latch.port, latch.refused]).toEqual([30_002, 0])
    }
  })

  it('plain RTP from there is refused, as the first source and as a successor', () => {
    const first = new SourceLatch()
    first.announce({ ...announced(4000), sourceRules })
    expect(first.hear(0, PEER, 30_002, 7, 1, true)).toBe(false)
    expect([first.port, first.refused]).toEqual([4000, 1])
    const successor = new SourceLatch()
    successor.announce({ ...announced(4000), sourceRules })
    successor.hear(0, PEER, 4711, 7, 1, true)
    expect(stream(successor, { port: 30_002, ssrc: 8 }, 20, 2000)).toEqual([])
    expect([successor.port, successor.refused]).toEqual([4711, 1])
  })

  it('a peer behind a NAT is not learnt at its private address itself', () => {
    const latch = new SourceLatch()
    latch.announce({ ...announced(4000, false, PRIVATE + 16), reachable: false, sourceRules })
    expect(latch.hear(0, PRIVATE + 16, 4000, 7, 1, true)).toBe(false)
    expect(latch.port).toBe(0)
  })
})

describe('source latch, SRTP (packets that verified)', () => {
  it('SRTP is sent to the address of the first verified packet, and moves to another only after silence', () => {
    const latch = new SourceLatch()
    latch.announce(announced(4000, true))
    expect(latch.mayHear(OTHER)).toBe(true)
    latch.hear(0, OTHER, 5001, 7, 1, true)
    expect([latch.ipv4, latch.port]).toEqual([OTHER, 5001])
    latch.hear(100, OTHER, 5002, 7, 2, true)
    expect(latch.port).toBe(5001)
    latch.hear(700, OTHER, 5003, 7, 3, true)
    expect(latch.port).toBe(5003)
  })

  it('a re-INVITE with the same address keeps the latched address of SRTP', () => {
    const latch = new SourceLatch()
    latch.announce(announced(4000, true))
    latch.hear(0, OTHER, 5001, 7, 1, true)
    latch.announce(announced(4000, true))
    expect([latch.ipv4, latch.port]).toEqual([OTHER, 5001])
    latch.hear(10, OTHER, 5001, 7, 2, true)
    latch.announce(announced(4002, true))
    expect([latch.ipv4, latch.port]).toEqual([PEER, 4002])
  })
})
