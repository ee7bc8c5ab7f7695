import { type AudioFormat, NARROWBAND, randomBelow, SeededRandom, WIDEBAND } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pitchSearchFor } from './pitch-search.ts'
import { resample } from './resample.ts'
import { SyntheticSound } from './testing/synthetic-sound.ts'

const HISTORY = 390

/** Normalised cross-correlation of the last 20 ms with what is `lag` samples before. */
function match(history: Int16Array, lag: number, { sampleRateHz }: AudioFormat, stride = 1): number {
  let product = 0
  let energy = 1
  for (let i = history.length - sampleRateHz / 50; i < history.length; i += stride) {
    product += history[i]! * history[i - lag]!
    energy += history[i - lag]! ** 2
  }
  return product / Math.sqrt(energy)
}

/** The lag in `from` to `to` with the best match, the first of equals. */
function bestLag(history: Int16Array, [from, to]: readonly [number, number], format: AudioFormat, stride = 1): number {
  let best = from
  for (let lag = from + 1; lag <= to; lag++)
    if (match(history, lag, format, stride) > match(history, best, format, stride)) best = lag
  return best
}

/** Every lag with every other sample, then the neighbours of the best with all samples, one lag after the other. */
function oneByOne(history: Int16Array): number {
  const coarse = bestLag(history, [40, 120], NARROWBAND, 2)
  return bestLag(history, [Math.max(40, coarse - 1), Math.min(120, coarse + 1)], NARROWBAND)
}

/** Pieces of 48.75 ms, 20 ms apart, of a voice whose pitch moves, with some noise. */
function* voiced(format: AudioFormat, pitchHz: number): Generator<Int16Array> {
  const sound = new SyntheticSound(4000).vowel(0, 4000, -20, { pitchHz, vibrato: 0.05, syllables: true })
  const random = new SeededRandom(pitchHz)
  for (let i = 0; i < sound.samples.length; i++) sound.samples[i]! += randomBelow(random, 200) - 100
  const samples = resample(sound.samples, 8000, format.sampleRateHz)
  const length = HISTORY * (format.sampleRateHz / 8000)
  for (let at = length; at + length < samples.length; at += format.sampleRateHz / 50)
    yield samples.slice(at, at + length)
}

describe('the pitch search of concealment', () => {
  it.each([70, 95, 125, 180])('finds the lag of a search one by one in a voice with a pitch of %i Hz', pitchHz => {
    let count = 0
    for (const history of voiced(NARROWBAND, pitchHz)) {
      expect(pitchSearchFor(NARROWBAND).find(history)).toBe(oneByOne(history))
      count++
    }
    expect(count).toBeGreaterThan(150)
  })

  it('the pitch search of concealment finds the lag of a search one by one in any audio, also at full scale and in silence', () => {
    const sample = fc.oneof(fc.constantFrom(-32_768, 0, 32_767), fc.integer({ min: -32_768, max: 32_767 }))
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: HISTORY }), samples => {
        const history = Int16Array.from({ length: HISTORY }, (_, i) => samples[i % samples.length]!)
        expect(pitchSearchFor(NARROWBAND).find(history)).toBe(oneByOne(history))
      }),
      { numRuns: 300 },
    )
  })

  it.each([70, 95, 125, 180])(
    'the pitch search of concealment finds a lag at 16 kHz that matches a voice of %i Hz as well as the best one',
    pitchHz => {
      for (const history of voiced(WIDEBAND, pitchHz)) {
        const found = pitchSearchFor(WIDEBAND).find(history)
        const best = match(history, bestLag(history, [80, 240], WIDEBAND), WIDEBAND)
        expect(found).toBeGreaterThanOrEqual(80)
        expect(found).toBeLessThanOrEqual(240)
        expect(match(history, found, WIDEBAND)).toBeGreaterThan(0.95 * best)
      }
    },
  )
})
