import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { G722 } from './g722.ts'

const RATE = G722.format.sampleRateHz

function encoded(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length >> 1)
  expect(G722.createEncoder().encode(samples, 0, samples.length, bytes, 0)).toBe(bytes.length)
  return bytes
}

function decoded(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(2 * bytes.length)
  expect(G722.createDecoder().decode(bytes, 0, bytes.length, samples, 0)).toBe(samples.length)
  return samples
}

/** Triangles, noise, near silence and noise at full scale in turns: every branch of both quantisers and predictors. */
function busySound(count: number): Int16Array {
  let state = 1
  return Int16Array.from({ length: count }, (_, i) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const noise = ((state >>> 16) & 0xffff) - 32768
    const triangle = (period: number, peak: number) =>
      Math.floor(((Math.abs(((i * 2) % (2 * period)) - period) * 2 - period) * peak) / period)
    const section = Math.floor(i / 4000)
    if (section % 5 === 4) return noise
    const value = triangle(40, 9000) + triangle(7, 3000) + Math.floor(noise / 16)
    return section % 3 === 2 ? Math.floor(value / 64) : Math.max(-32768, Math.min(32767, value))
  })
}

/** The delay of the two filters: 22 samples (ITU-T G.722 section 1.5: 4 ms with the transmission of a byte). */
const DELAY = 22

function signalToNoise(original: Int16Array): number {
  const back = decoded(encoded(original))
  let signal = 0
  let noise = 0
  for (let i = RATE / 10; i + DELAY < original.length; i++) {
    signal += original[i]! ** 2
    noise += (original[i]! - back[i + DELAY]!) ** 2
  }
  return 10 * Math.log10(signal / noise)
}

const tone = (hz: number) =>
  Int16Array.from({ length: RATE }, (_, i) => Math.round(8000 * Math.sin((2 * Math.PI * hz * i) / RATE)))

describe('G.722', () => {
  it('three seconds of varied sound encode and decode to the bytes and samples of libg722 1.2.8', () => {
    const bytes = encoded(busySound(48_000))
    expect(Buffer.from(bytes.subarray(0, 32)).toString('hex')).toBe(
      '922084208620a0b42fb09a18bf970c8e9190d6fc371ab0abaf2caa345c76b415',
    )
    expect(digest(bytes)).toBe('e7ed885031321e3c148de8c3a494b026729ccca533aa0bfaac1d588e8ccbaf50')
    const samples = decoded(bytes)
    expect([...samples.subarray(0, 12)]).toEqual([-1, 0, 0, -1, -1, 1, 0, -6, -2, 19, -2, -67])
    expect(digest(new Uint8Array(samples.buffer))).toBe(
      'a23c96f0b4dba4a0e1f6d6b2b4e66fdea54d1392468672d05cd4d6b7233bac9c',
    )
  })

  it.each([
    ['lower', 300, 35],
    ['lower', 1000, 35],
    ['lower', 3000, 30],
    ['higher', 5000, 13],
    ['higher', 6500, 13],
  ])('G.722 carries a tone in the %s band at %i Hz with at least %i dB of signal to noise', (_band, hz, least) => {
    expect(signalToNoise(tone(hz))).toBeGreaterThan(least)
  })

  it('G.722 carries speech-like sound of both bands with more than 20 dB of signal to noise', () => {
    const speech = Int16Array.from({ length: 2 * RATE }, (_, i) => {
      const t = i / RATE
      const envelope = 0.55 + 0.45 * Math.sin(2 * Math.PI * 4 * t)
      let value = 0
      for (let harmonic = 1; harmonic * 130 < 7000; harmonic++) {
        value += Math.sin(2 * Math.PI * 130 * harmonic * t + harmonic ** 2) / (1 + harmonic / 6) ** 2
      }
      return Math.round(3000 * envelope * value)
    })
    expect(signalToNoise(speech)).toBeGreaterThan(20)
  })

  it('a G.722 stream does not depend on packet sizes or on other streams', () => {
    const sound = busySound(9600)
    const whole = encoded(sound)
    const encoder = G722.createEncoder()
    const other = G722.createEncoder()
    const cut = new Uint8Array(whole.length)
    for (let at = 0; at < sound.length; at += 320) {
      encoder.encode(sound, at, 320, cut, at >> 1)
      other.encode(sound, 0, 320, new Uint8Array(160), 0)
    }
    expect(cut).toEqual(whole)
  })

  it('the G.722 codec processes only what fits both arrays and returns how much', () => {
    const bytes = new Uint8Array(4)
    expect(G722.createEncoder().encode(new Int16Array(10), 8, 10, bytes, 1)).toBe(1)
    expect(G722.createDecoder().decode(bytes, 0, 4, new Int16Array(5), 0)).toBe(4)
    expect(G722.createDecoder().decode(bytes, 9, 4, new Int16Array(5), 0)).toBe(0)
  })
})

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
