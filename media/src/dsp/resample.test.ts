import { describe, expect, it } from 'vitest'
import { resample } from './resample.ts'

const AMPLITUDE = 16_000

function tone(hz: number, rate: number, seconds = 0.5): Int16Array {
  return Int16Array.from({ length: rate * seconds }, (_, n) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * hz * n) / rate)),
  )
}

/** Level of what comes out, over the level of what went in, in dB; the ends, where the filter half looks at nothing, left out. */
function gainDb(hz: number, rate: number): number {
  const middle = resample(tone(hz, rate), rate, 8000).slice(400, -400)
  const power = middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length
  return 10 * Math.log10(Math.max(power, 1e-3) / (AMPLITUDE ** 2 / 2))
}

describe.each([16_000, 22_050, 24_000, 44_100, 48_000])('resampling from %i Hz to 8 kHz', rate => {
  it('resampling passes the telephone band unchanged', () => {
    for (let hz = 100; hz <= 3400; hz += 150) expect(Math.abs(gainDb(hz, rate))).toBeLessThan(0.1)
  })

  it('resampling attenuates aliases of sound above 4 kHz below -50 dB', () => {
    for (let hz = 4000; hz < rate / 2; hz += 170) expect(gainDb(hz, rate)).toBeLessThan(-50)
  })

  it('resampling keeps length and phase of a tone', () => {
    const output = resample(tone(1000, rate), rate, 8000)
    const expected = tone(1000, 8000)
    expect(output.length).toBe(expected.length)
    for (let n = 400; n < output.length - 400; n++) expect(Math.abs(output[n]! - expected[n]!)).toBeLessThan(200)
  })
})

it('resampling clips overshoots instead of wrapping around', () => {
  const square = Int16Array.from({ length: 1600 }, (_, n) => (n % 40 < 20 ? 32_767 : -32_768))
  const output = resample(square, 16_000, 8000)
  for (let n = 100; n < 700; n++) {
    if (square[2 * n - 8] === square[2 * n + 8]) expect(Math.sign(output[n]!)).toBe(Math.sign(square[2 * n]!))
  }
})
