import type { SampleRateHz } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePcma } from '../codec/g711.ts'
import { WAV_HEADER_BYTES, writeWavHeader } from './wav.ts'
import { readWavLayout } from './wav-layout.ts'
import { readWav } from './wav-reader.ts'

function wav(
  frames: readonly (readonly [number, number])[],
  claimed = frames.length,
  sampleRateHz: SampleRateHz = 8000,
): Uint8Array {
  const file = new Uint8Array(WAV_HEADER_BYTES + 2 * frames.length)
  expect(writeWavHeader(file, claimed, sampleRateHz)).toBe(WAV_HEADER_BYTES)
  file.set(frames.flat(), WAV_HEADER_BYTES)
  return file
}

/** A file put together by hand: `fmt ` fields, then data, with an odd foreign chunk before. */
function plainWav(format: number, channels: number, rate: number, bits: number, data: number[]): Uint8Array {
  const file = new Uint8Array(12 + 10 + 24 + 8 + data.length)
  const view = new DataView(file.buffer)
  const tag = (at: number, name: string) => file.set(new TextEncoder().encode(name), at)
  tag(0, 'RIFF')
  tag(8, 'WAVE')
  tag(12, 'LIST')
  view.setUint32(16, 1, true)
  tag(22, 'fmt ')
  view.setUint32(26, 16, true)
  view.setUint16(30, format, true)
  view.setUint16(32, channels, true)
  view.setUint32(34, rate, true)
  view.setUint16(44, bits, true)
  tag(46, 'data')
  view.setUint32(50, data.length, true)
  file.set(data, 54)
  return file
}

const codeOf = (bytes: Uint8Array) => {
  try {
    readWav(bytes)
    return null
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('WAV', () => {
  it('a WAV of two mu-law channels at 8 kHz is read back as written', () => {
    const audio = readWav(
      wav([
        [0x80, 0xff],
        [0x00, 0xf0],
      ]),
    )
    expect([audio.encoding, audio.sampleRate]).toEqual(['PCMU', 8000])
    expect(audio.channels.map(channel => [...channel])).toEqual([
      [32124, -32124],
      [0, 120],
    ])
  })

  it('a WAV header declares the sample rate of its audio', () => {
    const file = wav([[0x80, 0xff]], 1, 16_000)
    expect(readWav(file)).toMatchObject({ encoding: 'PCMU', sampleRate: 16_000 })
    expect(readWavLayout(file)).toMatchObject({ framesPerSecond: 16_000, frameBytes: 2 })
    // Bytes per second.
    expect(new DataView(file.buffer).getUint32(28, true)).toBe(32_000)
  })

  it('a WAV is read up to the shorter of its declared and its actual length', () => {
    const frames = Array.from({ length: 10 }, () => [0xff, 0xff] as const)
    expect(readWav(wav(frames, 1000)).channels[0]).toHaveLength(10)
    expect(readWav(wav(frames, 4)).channels[0]).toHaveLength(4)
    expect(readWav(wav(frames), { maxFrames: 3 }).channels[1]).toHaveLength(3)
  })

  it('16-bit PCM, 8-bit PCM and A-law WAVs are read', () => {
    expect([...readWav(plainWav(1, 1, 22050, 16, [0x01, 0x80, 0xff, 0x7f])).channels[0]!]).toEqual([-32767, 32767])
    expect([...readWav(plainWav(1, 1, 8000, 8, [0, 128, 255])).channels[0]!]).toEqual([-32768, 0, 32512])
    const alaw = new Int16Array(1)
    decodePcma(Uint8Array.of(0xaa), 0, 1, alaw, 0)
    expect([...readWav(plainWav(6, 1, 8000, 8, [0xaa])).channels[0]!]).toEqual([...alaw])
  })

  it('any bytes that are no readable WAV are refused with invalid_wav', () => {
    expect(codeOf(new Uint8Array(0))).toBe('invalid_wav')
    expect(codeOf(plainWav(3, 1, 8000, 32, [0, 0, 0, 0]))).toBe('invalid_wav')
    expect(codeOf(plainWav(1, 0, 8000, 16, []))).toBe('invalid_wav')
    const good = plainWav(1, 2, 8000, 16, [1, 2, 3, 4, 5, 6, 7, 8])
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(61), fc.nat(255)), { maxLength: 6 }), fc.nat(62), (changes, length) => {
        const file = good.slice(0, length)
        for (const [at, value] of changes) if (at < file.length) file[at] = value
        expect([null, 'invalid_wav']).toContain(codeOf(file))
      }),
      { numRuns: 2000 },
    )
  })
})
