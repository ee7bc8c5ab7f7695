import { expect, it } from 'vitest'
import { wavPeaks } from './wav-peaks.ts'

/** A WAV file with a `fact` chunk of odd size before the samples. */
function wav(format: number, bits: number, channels: number, samples: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(54))
  const text = (at: number, word: string) => [...word].forEach((c, i) => void head.setUint8(at + i, c.charCodeAt(0)))
  text(0, 'RIFF')
  head.setUint32(4, 46 + samples.length, true)
  text(8, 'WAVEfmt ')
  head.setUint32(16, 16, true)
  head.setUint16(20, format, true)
  head.setUint16(22, channels, true)
  head.setUint32(24, 8000, true)
  head.setUint16(32, (channels * bits) / 8, true)
  head.setUint16(34, bits, true)
  text(36, 'fact')
  head.setUint32(40, 1, true)
  text(46, 'data')
  head.setUint32(50, samples.length, true)
  return new Uint8Array([...new Uint8Array(head.buffer), ...samples])
}

it('the peaks of a mu-law recording are taken channel by channel', () => {
  // 0x00 and 0x80 are the loudest, 0xff and 0x7f are silence (G.711).
  const peaks = wavPeaks(wav(7, 8, 2, Uint8Array.of(0x00, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x80)), 2)!
  expect(peaks.durationMs).toBe(0.5)
  expect([...peaks.channels[0]!].map(value => value.toFixed(2))).toEqual(['0.98', '0.00'])
  expect([...peaks.channels[1]!].map(value => value.toFixed(2))).toEqual(['0.00', '0.98'])
})

it('the peaks of a PCM recording are between 0 and 1', () => {
  const samples = new Uint8Array(new Int16Array([0, -32_768, 16_384, 100]).buffer)
  expect([...wavPeaks(wav(1, 16, 1, samples), 2)!.channels[0]!]).toEqual([1, 0.5])
})

it('the waveform has no more parts than the recording has samples', () => {
  expect(wavPeaks(wav(7, 8, 1, Uint8Array.of(0, 0, 0)), 100)!.channels[0]).toHaveLength(3)
})

it('bytes that are no recording have no peaks', () => {
  const good = wav(7, 8, 2, new Uint8Array(8))
  for (const file of [new Uint8Array(), new Uint8Array(100), good.subarray(0, 40), wav(6, 8, 1, new Uint8Array(8))])
    expect(wavPeaks(file, 10)).toBeNull()
})
