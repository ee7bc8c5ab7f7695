import { randomBelow, SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReorderBuffer } from './reorder-buffer.ts'
import { linearDecoder } from './testing/linear-decoder.ts'

const payload = new Uint8Array(160)
const SSRC = 1

function push(buffer: ReorderBuffer, sequence: number, nowMs: number, ssrc = SSRC): boolean {
  return buffer.push(ssrc, sequence & 0xffff, sequence * 160, linearDecoder, payload, 0, 160, nowMs)
}

/** Sequence (from the timestamp) of everything that may leave. */
function releasable(buffer: ReorderBuffer, nowMs: number): number[] {
  const out: number[] = []
  while (buffer.ready(nowMs)) {
    out.push(buffer.timestamp / 160)
    buffer.release()
  }
  return out
}

describe('re-order buffer', () => {
  it('packets in order pass at once', () => {
    const buffer = new ReorderBuffer()
    push(buffer, 10, 0)
    expect(releasable(buffer, 0)).toEqual([10])
    push(buffer, 11, 20)
    expect(releasable(buffer, 20)).toEqual([11])
  })

  it('packets behind a gap wait 40 ms, then the gap counts as lost', () => {
    const buffer = new ReorderBuffer()
    push(buffer, 10, 0)
    releasable(buffer, 0)
    push(buffer, 13, 60)
    expect(releasable(buffer, 99)).toEqual([])
    expect(buffer.ready(100)).toBe(true)
    expect(buffer.missing).toBe(2)
    expect(releasable(buffer, 100)).toEqual([13])
    expect(buffer.lost).toBe(2)
    expect(push(buffer, 12, 101)).toBe(false)
    expect(push(buffer, 13, 102)).toBe(false)
    expect([buffer.late, buffer.duplicate]).toEqual([1, 1])
  })

  it('reordering within 40 ms loses and repeats no packet, from any first sequence number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 1, max: 1 << 30 }), (first, seed) => {
        const random = new SeededRandom(seed)
        const buffer = new ReorderBuffer()
        const arrivals = Array.from({ length: 200 }, (_, i) => ({
          i,
          at: i * 20 + (i === 0 ? 0 : randomBelow(random, 40)),
        }))
          .flatMap(packet => (randomBelow(random, 10) === 0 ? [packet, { ...packet, at: packet.at + 5 }] : [packet]))
          .sort((a, b) => a.at - b.at)
        const out: number[] = []
        for (const { i, at } of arrivals) {
          out.push(...releasable(buffer, at))
          push(buffer, first + i, at)
          out.push(...releasable(buffer, at))
        }
        expect(out).toEqual(Array.from({ length: 200 }, (_, i) => first + i))
        expect([buffer.lost, buffer.late]).toEqual([0, 0])
        expect(buffer.duplicate).toBe(arrivals.length - 200)
      }),
      { numRuns: 100 },
    )
  })

  it('another SSRC or a restarted sequence resets the buffer; one stray packet does not', () => {
    const buffer = new ReorderBuffer()
    push(buffer, 10, 0)
    releasable(buffer, 0)
    push(buffer, 500, 20, 2)
    expect([buffer.ready(20), buffer.restarted]).toEqual([true, true])
    expect(releasable(buffer, 20)).toEqual([500])
    expect(push(buffer, 20_000, 40, 2)).toBe(false)
    push(buffer, 501, 41, 2)
    expect([buffer.ready(41), buffer.restarted]).toEqual([true, false])
    expect(releasable(buffer, 41)).toEqual([501])
    push(buffer, 20_100, 60, 2)
    push(buffer, 20_101, 80, 2)
    expect([buffer.ready(80), buffer.restarted]).toEqual([true, true])
    expect(releasable(buffer, 80)).toEqual([20_101])
  })

  it('a gap longer than the buffer makes it advance', () => {
    const buffer = new ReorderBuffer({ capacity: 8 })
    push(buffer, 0, 0)
    releasable(buffer, 0)
    push(buffer, 2, 10)
    push(buffer, 40, 20)
    expect(releasable(buffer, 60)).toEqual([40])
    expect(buffer.lost).toBe(39)
    expect(buffer.waiting).toBe(0)
  })

  it('a packet whose payload is longer than a slot is refused', () => {
    const buffer = new ReorderBuffer({ payloadBytes: 100 })
    expect(push(buffer, 0, 0)).toBe(false)
    expect(buffer.refused).toBe(1)
  })
})
