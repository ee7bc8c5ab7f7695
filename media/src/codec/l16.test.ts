import { describe, expect, it } from 'vitest'
import { CODEC_NAMES, codecByName } from './codecs.ts'

const codec = codecByName('L16')

describe('L16 (RFC 3551 section 4.5.11)', () => {
  it('samples are sent in network byte order and come back unchanged', () => {
    const samples = Int16Array.of(0, 1, -1, 256, 32_767, -32_768)
    const bytes = new Uint8Array(2 * samples.length)
    expect(codec.createEncoder().encode(samples, 0, samples.length, bytes, 0)).toBe(bytes.length)
    expect([...bytes]).toEqual([0, 0, 0, 1, 0xff, 0xff, 1, 0, 0x7f, 0xff, 0x80, 0])
    const decoded = new Int16Array(samples.length)
    expect(codec.createDecoder().decode(bytes, 0, bytes.length, decoded, 0)).toBe(samples.length)
    expect(decoded).toEqual(samples)
  })

  it('half a sample at the end of a packet, and what the destination cannot hold, are left out', () => {
    expect(codec.createDecoder().decode(Uint8Array.of(1, 2, 3), 0, 3, new Int16Array(4), 0)).toBe(1)
    expect(codec.createDecoder().decode(Uint8Array.of(1, 2, 3, 4), 0, 4, new Int16Array(1), 0)).toBe(1)
    expect(codec.createEncoder().encode(Int16Array.of(1, 2), 0, 2, new Uint8Array(3), 0)).toBe(2)
  })

  it('L16 is no codec that a trunk can be given', () => {
    expect(CODEC_NAMES).not.toContain('L16')
  })
})
