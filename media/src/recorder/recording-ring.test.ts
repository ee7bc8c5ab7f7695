import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodePcmu } from '../codec/g711.ts'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from './recording-ring.ts'

function drain(reader: RecordingRingReader, finishing: boolean, swap = false): number[] {
  const frames = reader.available(finishing)
  const dst = new Uint8Array(2 * frames)
  expect(reader.copy(dst, frames, swap)).toBe(frames)
  reader.release(frames)
  return [...dst]
}

const sidesOf = (pairs: number[]) => ({
  left: pairs.filter((_, i) => i % 2 === 0),
  right: pairs.filter((_, i) => i % 2 === 1),
})

const bytes = (length: number, value: number) => new Uint8Array(length).fill(value)

describe('recording ring', () => {
  it('both channels share one clock, with silence where nothing was written, for any order and size of writes', () => {
    const write = fc.record({
      right: fc.boolean(),
      gap: fc.integer({ min: 0, max: 300 }),
      count: fc.integer({ min: 1, max: 500 }),
      value: fc.integer({ min: 0, max: 254 }),
      drain: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(write, { maxLength: 40 }), fc.boolean(), (writes, swap) => {
        const buffer = allocateRecordingRing(NARROWBAND, 32_768)
        const ring = new RecordingRing(buffer)
        const reader = new RecordingRingReader(buffer)
        const expected: [number[], number[]] = [[], []]
        const got: number[] = []
        for (const { right, gap, count, value, drain: now } of writes) {
          const side = expected[right ? 1 : 0]
          const position = side.length + gap
          // A channel more than a second behind has been given up to silence by then, and one that has not begun after a quarter of it;
          // this is not about that.
          const slower = Math.min(expected[0].length, expected[1].length)
          if (position + count > slower + (slower === 0 ? 1900 : 7000)) continue
          side.push(...new Array(gap).fill(0xff), ...new Array(count).fill(value))
          if (right) ring.writeRightBytes(position, bytes(count, value), 0, count)
          else ring.writeLeftBytes(position, bytes(count, value), 0, count)
          if (now) got.push(...drain(reader, false, swap))
        }
        got.push(...drain(reader, true, swap))
        const length = Math.max(expected[0].length, expected[1].length)
        for (const side of expected) side.push(...new Array(length - side.length).fill(0xff))
        const { left, right } = sidesOf(got)
        expect([left, right]).toEqual(swap ? [expected[1], expected[0]] : expected)
        expect(ring.overrunSamples).toBe(0)
      }),
    )
  })

  it('the recording ring stores samples as mu-law', () => {
    const buffer = allocateRecordingRing()
    const samples = Int16Array.of(0, 1000, -1000, 32000)
    const encoded = new Uint8Array(4)
    encodePcmu(samples, 0, 4, encoded, 0)
    new RecordingRing(buffer).writeLeft(0, samples, 0, 4)
    expect(sidesOf(drain(new RecordingRingReader(buffer), true)).left).toEqual([...encoded])
  })

  it('an overlapping write does not change stored audio', () => {
    const buffer = allocateRecordingRing()
    const ring = new RecordingRing(buffer)
    ring.writeLeftBytes(0, bytes(4, 1), 0, 4)
    ring.writeLeftBytes(2, bytes(4, 2), 0, 4)
    ring.writeLeftBytes(0, bytes(3, 3), 0, 3)
    expect(sidesOf(drain(new RecordingRingReader(buffer), true)).left).toEqual([1, 1, 1, 1, 2, 2])
  })

  it('the ring waits one second for a lagging channel, then fills it with silence', () => {
    const buffer = allocateRecordingRing()
    const ring = new RecordingRing(buffer)
    const reader = new RecordingRingReader(buffer)
    ring.writeRightBytes(0, bytes(100, 7), 0, 100)
    ring.writeLeftBytes(0, bytes(8000, 5), 0, 8000)
    expect(reader.available(false)).toBe(100)
    ring.writeLeftBytes(8000, bytes(1600, 5), 0, 1600)
    expect(drain(reader, false)).toHaveLength(2 * 1600)
    // Too late for what has been written out, in time for the rest.
    ring.writeRightBytes(1000, bytes(1000, 7), 0, 1000)
    const { right } = sidesOf(drain(reader, true))
    expect(right.slice(0, 400)).toEqual(new Array(400).fill(7))
    expect(new Set(right.slice(400))).toEqual(new Set([0xff]))
  })

  it('the ring waits a quarter of a second for a channel that has not begun, and has its first audio in its place', () => {
    const buffer = allocateRecordingRing()
    const ring = new RecordingRing(buffer)
    const reader = new RecordingRingReader(buffer)
    ring.writeLeftBytes(0, bytes(2000, 5), 0, 2000)
    expect(reader.available(false)).toBe(0)
    ring.writeLeftBytes(2000, bytes(6000, 5), 0, 6000)
    expect(new Set(sidesOf(drain(reader, false)).right)).toEqual(new Set([0xff]))
    expect(reader.position).toBe(6000)
    // A packet of 20 ms that arrives now.
    ring.writeRightBytes(8000, bytes(160, 7), 0, 160)
    ring.writeLeftBytes(8000, bytes(160, 5), 0, 160)
    const { right } = sidesOf(drain(reader, false))
    expect(right).toEqual([...new Array(2000).fill(0xff), ...new Array(160).fill(7)])
  })

  it('a ring of 16 kHz audio holds two seconds and waits one second for a lagging channel', () => {
    const buffer = allocateRecordingRing(WIDEBAND)
    const ring = new RecordingRing(buffer)
    const reader = new RecordingRingReader(buffer)
    expect(reader.sampleRateHz).toBe(16_000)
    ring.writeLeftBytes(0, bytes(32_000, 5), 0, 32_000)
    expect(ring.overrunSamples).toBe(0)
    expect(reader.available(false)).toBe(28_000)
    ring.writeRightBytes(0, bytes(100, 7), 0, 100)
    expect(reader.available(false)).toBe(16_000)
  })

  it('audio that does not fit is counted and becomes silence, and later audio is in its place', () => {
    const buffer = allocateRecordingRing(NARROWBAND, 1024)
    const ring = new RecordingRing(buffer)
    const reader = new RecordingRingReader(buffer)
    for (let position = 0; position < 1600; position += 160) {
      ring.writeLeftBytes(position, bytes(160, 9), 0, 160)
      ring.writeRightBytes(position, bytes(160, 9), 0, 160)
    }
    expect(ring.overrunSamples).toBe(2 * (1600 - 1024))
    const first = drain(reader, false)
    ring.writeLeftBytes(1600, bytes(160, 8), 0, 160)
    const all = sidesOf([...first, ...drain(reader, true)]).left
    expect(all).toEqual([...new Array(1024).fill(9), ...new Array(576).fill(0xff), ...new Array(160).fill(8)])
  })

  it('a channel that the writer reads in time stays in its first half, and a late writer loses nothing of two seconds', () => {
    const buffer = allocateRecordingRing()
    const halves = new Uint8Array(buffer, buffer.byteLength - 16_384)
    const ring = new RecordingRing(buffer)
    const reader = new RecordingRingReader(buffer)
    const [got, expected]: [number[], number[]] = [[], []]
    const say = (seconds: number) => {
      for (let until = expected.length + 8000 * seconds; expected.length < until; ) {
        const position = expected.length
        const frame = Uint8Array.from({ length: 160 }, (_, i) => (position + i) % 251)
        ring.writeLeftBytes(position, frame, 0, 160)
        ring.writeRightBytes(position, frame, 0, 160)
        expected.push(...frame)
      }
    }
    for (let i = 0; i < 6; i++) {
      say(0.54)
      got.push(...drain(reader, false))
    }
    expect(halves.some(byte => byte !== 0)).toBe(false)
    say(2.04)
    expect(halves.some(byte => byte !== 0)).toBe(true)
    got.push(...drain(reader, false))
    say(1.3)
    got.push(...drain(reader, false))
    const { left, right } = sidesOf(got)
    expect(left).toEqual(expected)
    expect(right).toEqual(expected)
    expect(ring.overrunSamples).toBe(0)
  })

  it('a recording ends at the given position, padded or cut, and ignores later writes', () => {
    const buffer = allocateRecordingRing()
    const ring = new RecordingRing(buffer)
    ring.writeLeftBytes(0, bytes(100, 1), 0, 100)
    ring.end(150)
    ring.writeRightBytes(0, bytes(200, 2), 0, 200)
    const { left, right } = sidesOf(drain(new RecordingRingReader(buffer), false))
    expect(left).toEqual([...new Array(100).fill(1), ...new Array(50).fill(0xff)])
    expect(new Set(right)).toEqual(new Set([0xff]))
  })
})
