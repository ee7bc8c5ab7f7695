import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SessionRings } from './session-rings.ts'

/** Samples that name their position. */
function numbered(from: number, count: number): Int16Array {
  return Int16Array.from({ length: count }, (_, i) => (from + i) & 0x7fff)
}

/** Bytes of the rings' memory that were written. */
function touched({ memory }: SessionRings): number {
  return new Uint8Array(memory).filter(byte => byte !== 0).length
}

const steps = fc.array(
  fc.record({ writes: fc.integer({ min: 0, max: 9000 }), reads: fc.integer({ min: 0, max: 9000 }) }),
  {
    minLength: 1,
    maxLength: 60,
  },
)

describe('rings of a session', () => {
  it('audio arrives whole and in order however much either side takes at once', () => {
    fc.assert(
      fc.property(steps, all => {
        const rings = new SessionRings()
        const into = new Int16Array(9000)
        let [played, taken, heard, read] = [0, 0, 0, 0]
        for (const { writes, reads } of all) {
          played += rings.writeOutbound(numbered(played, writes), 0)
          const out = rings.takeOutbound(into, reads)
          expect(into.subarray(0, out)).toEqual(numbered(taken, out))
          taken += out
          // More than the ring holds would be lost, which another test is about.
          const fits = Math.min(writes, rings.heardSamples - 1024 - (heard - read))
          rings.writeHeard(numbered(heard, fits), fits)
          heard += fits
          const back = rings.readHeard(into.subarray(0, reads))
          expect(into.subarray(0, back)).toEqual(numbered(read, back))
          read += back
          expect([rings.outboundTaken(), rings.heardRead()]).toEqual([taken, read])
        }
      }),
    )
  })

  it('audio that was dropped is not taken, and what is played after it is', () => {
    const rings = new SessionRings()
    const into = new Int16Array(160)
    rings.writeOutbound(numbered(0, 700), 0)
    rings.takeOutbound(into, 160)
    rings.dropOutbound()
    expect(rings.takeOutbound(into, 160)).toBe(0)
    rings.writeOutbound(numbered(2000, 160), 0)
    rings.takeOutbound(into, 160)
    expect(into).toEqual(numbered(2000, 160))
  })

  it('a minute of a call whose owner keeps up touches less than 2 kB of its rings', () => {
    const rings = new SessionRings()
    const into = new Int16Array(1000)
    for (let at = 0; at < 60 * 8000; at += 160) {
      rings.writeHeard(numbered(at, 160), 160)
      rings.readHeard(into)
      rings.writeOutbound(numbered(at, 160), 0)
      rings.takeOutbound(into, 160)
    }
    expect(touched(rings)).toBeLessThan(2000)
  })
})
