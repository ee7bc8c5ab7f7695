import { NARROWBAND } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from '../recorder/recording-ring.ts'
import { loadNativeAddon } from './native-packet-io.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''
const built = (): Exclude<typeof addon, string> => addon as Exclude<typeof addon, string>

describe.skipIf(missing)(`blocks of recordings in native code${note}`, () => {
  it('a block of a recording has the same bytes as in TypeScript, for any audio, position and order of channels', () => {
    const write = fc.record({
      right: fc.boolean(),
      at: fc.integer({ min: 0, max: 3000 }),
      count: fc.integer({ min: 1, max: 700 }),
      released: fc.integer({ min: 0, max: 900 }),
      frames: fc.integer({ min: 0, max: 1500 }),
      swap: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(write, { maxLength: 25 }), writes => {
        const buffer = allocateRecordingRing(NARROWBAND, 1024)
        const ring = new RecordingRing(buffer)
        const portable = new RecordingRingReader(buffer)
        const native = new RecordingRingReader(buffer, built().copyRecording)
        let value = 0
        for (const { right, at, count, released, frames, swap } of writes) {
          const audio = Uint8Array.from({ length: count }, () => (value++ * 7) & 0x7f)
          if (right) ring.writeRightBytes(at, audio, 0, count)
          else ring.writeLeftBytes(at, audio, 0, count)
          const [expected, got] = [new Uint8Array(2400), new Uint8Array(2400)]
          expect(native.copy(got, frames, swap)).toBe(portable.copy(expected, frames, swap))
          expect(got).toEqual(expected)
          portable.release(released)
        }
      }),
    )
  })

  it('memory that is no recording is refused with a TypeError', () => {
    const { copyRecording } = built()
    const into = new Uint8Array(64)
    const ring = new Int32Array(allocateRecordingRing(NARROWBAND, 1024))
    expect(copyRecording(ring, 8, into, false)).toBe(8)
    expect(() => copyRecording(new Int32Array(64), 8, into, false)).toThrow(TypeError)
    expect(() => copyRecording(ring.subarray(1), 8, into, false)).toThrow(TypeError)
    expect(() => copyRecording(ring, -1, into, false)).toThrow(TypeError)
    ring[0] = 2 ** 30
    expect(() => copyRecording(ring, 8, into, false)).toThrow(TypeError)
  })
})
