import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codecByName } from './codecs.ts'

const codes = Uint8Array.from({ length: 256 }, (_, i) => i)

function decodeAll(name: 'PCMU' | 'PCMA'): Int16Array {
  const samples = new Int16Array(256)
  expect(codecByName(name).createDecoder().decode(codes, 0, 256, samples, 0)).toBe(256)
  return samples
}

describe.each(['PCMU', 'PCMA'] as const)('%s', name => {
  const codec = codecByName(name)
  const { encode } = codec.createEncoder()
  const { decode } = codec.createDecoder()
  const silence = name === 'PCMU' ? 0xff : 0xd5

  it(`${name}: every code survives decoding and encoding`, () => {
    const back = new Uint8Array(256)
    encode(decodeAll(name), 0, 256, back, 0)
    // Mu-law has two zeros; both are the same sample, which is encoded as the positive one.
    const expected = name === 'PCMU' ? codes.map(code => (code === 0x7f ? 0xff : code)) : codes
    expect(back).toEqual(expected)
  })

  it(`${name}: codes of opposite sign decode to opposite samples`, () => {
    const samples = decodeAll(name)
    for (let code = 0; code < 128; code++) expect(samples[code]! + samples[code | 0x80]!).toBe(0)
  })

  it(`${name}: any sample below clipping decodes to within half a quantising step`, () => {
    const levels = [...new Set(decodeAll(name))].sort((a, b) => a - b)
    fc.assert(
      fc.property(fc.integer({ min: -32635, max: 32635 }), sample => {
        const byte = new Uint8Array(1)
        const back = new Int16Array(1)
        encode(Int16Array.of(sample), 0, 1, byte, 0)
        decode(byte, 0, 1, back, 0)
        const chosen = levels.indexOf(back[0]!)
        const steps = [
          levels[chosen]! - (levels[chosen - 1] ?? -33000),
          (levels[chosen + 1] ?? 33000) - levels[chosen]!,
        ]
        // Linear PCM is truncated to 14 (A-law: 13) bits first.
        expect(Math.abs(back[0]! - sample)).toBeLessThanOrEqual(Math.max(...steps) / 2 + (name === 'PCMU' ? 4 : 16))
      }),
      { numRuns: 2000 },
    )
  })

  it(`${name}: speech-like sound has more than 35 dB of signal to noise`, () => {
    const samples = Int16Array.from({ length: 16000 }, (_, i) => {
      const t = i / 8000
      const envelope = 0.55 + 0.45 * Math.sin(2 * Math.PI * 4 * t)
      return 9000 * envelope * (Math.sin(2 * Math.PI * 140 * t) + 0.5 * Math.sin(2 * Math.PI * 710 * t + 1))
    })
    const bytes = new Uint8Array(samples.length)
    const back = new Int16Array(samples.length)
    encode(samples, 0, samples.length, bytes, 0)
    decode(bytes, 0, bytes.length, back, 0)
    let signal = 0
    let noise = 0
    for (let i = 0; i < samples.length; i++) {
      signal += samples[i]! ** 2
      noise += (samples[i]! - back[i]!) ** 2
    }
    expect(10 * Math.log10(signal / noise)).toBeGreaterThan(35)
  })

  it(`${name}: the codec never writes past the end of an array`, () => {
    const dst = new Uint8Array(4)
    expect(encode(new Int16Array(10), 8, 10, dst, 1)).toBe(2)
    expect(dst).toEqual(Uint8Array.of(0, silence, silence, 0))
    expect(decode(dst, 9, 3, new Int16Array(3), 0)).toBe(0)
  })
})

describe('G.711 reference values', () => {
  it.each([
    ['PCMU', 0xff, 0],
    ['PCMU', 0x80, 32124],
    ['PCMU', 0x00, -32124],
    ['PCMU', 0xfe, 8],
    ['PCMU', 0xf0, 120],
    ['PCMU', 0xef, 132],
    ['PCMU', 0x9f, 8316],
    ['PCMU', 0x90, 15996],
    ['PCMA', 0xd5, 8],
    ['PCMA', 0x55, -8],
    ['PCMA', 0xaa, 32256],
    ['PCMA', 0x2a, -32256],
    ['PCMA', 0xd4, 24],
    ['PCMA', 0xc5, 264],
    ['PCMA', 0xf5, 528],
  ] as const)('%s code %i decodes to %i as in the reference table', (name, code, sample) => {
    expect(decodeAll(name)[code]).toBe(sample)
  })

  it('mu-law encoding clips samples beyond its range', () => {
    const bytes = new Uint8Array(2)
    codecByName('PCMU').createEncoder().encode(Int16Array.of(32767, -32768), 0, 2, bytes, 0)
    expect(bytes).toEqual(Uint8Array.of(0x80, 0x00))
  })
})
