import { NARROWBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { allocateRecordingRing } from '../recorder/recording-ring.ts'
import { loadNativeAddon } from './native-packet-io.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''
const built = (): Exclude<typeof addon, string> => addon as Exclude<typeof addon, string>

describe.skipIf(missing)(`blocks of recordings in native code${note}`, () => {
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
