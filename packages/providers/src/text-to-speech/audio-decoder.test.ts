import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { LinearDecoder } from './audio-decoder.ts'

/** A second of a tone as linear audio of 24 kHz. */
function tone(hz: number): Buffer {
  const bytes = Buffer.alloc(48_000)
  for (let i = 0; i < 24_000; i++)
    bytes.writeInt16LE(Math.round(10_000 * Math.sin((2 * Math.PI * hz * i) / 24_000)), 2 * i)
  return bytes
}

/** RMS of the decoded audio without its first and last tenth, for bytes in pieces of 1001. */
function decodedLevel(decoder: LinearDecoder, bytes: Buffer): { count: number; level: number } {
  const samples: number[] = []
  for (let at = 0; at < bytes.length; at += 1001) samples.push(...decoder.decode(bytes.subarray(at, at + 1001)))
  samples.push(...decoder.end())
  const middle = samples.slice(samples.length / 10, (9 * samples.length) / 10)
  return { count: samples.length, level: Math.sqrt(middle.reduce((sum, x) => sum + x * x, 0) / middle.length) }
}

describe('linear audio of 24 kHz', () => {
  it('linear audio of 24 kHz keeps a tone of 6 kHz when it is decoded for a call of 16 kHz', () => {
    const { count, level } = decodedLevel(new LinearDecoder(24_000, WIDEBAND), tone(6000))
    expect(count).toBe(16_000)
    expect(level).toBeGreaterThan(0.98 * 7071)
  })

  it('linear audio of 24 kHz loses a tone of 6 kHz when it is decoded for a call of 8 kHz', () => {
    const { count, level } = decodedLevel(new LinearDecoder(24_000, NARROWBAND), tone(6000))
    expect(count).toBe(8000)
    expect(level).toBeLessThan(20)
  })
})
