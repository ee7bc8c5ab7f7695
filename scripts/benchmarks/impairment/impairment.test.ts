import { beforeAll, describe, expect, it } from 'vitest'
import { resample } from '../../../media/src/index.ts'
import { loadOpus, SyntheticSound } from '../../../media/src/testing/index.ts'
import { NARROWBAND } from '../../../packages/kernel/src/index.ts'
import { figuresOf, notConcealed, withoutConcealment } from './figures.ts'
import { findHoles } from './holes.ts'
import { holdImpairedCall } from './impaired-call.ts'
import { LINES, type Line, WORST } from './lines.ts'

const UTTERANCES = 3
const SEED = 1

/** Vowels of 1.5 s, one note apart. */
function utterancesOf({ format }: Line): Int16Array[] {
  return Array.from({ length: UTTERANCES }, (_, i) => {
    const { samples } = new SyntheticSound(1500).vowel(0, 1500, -20, { pitchHz: 110 + 20 * i, syllables: true })
    return resample(samples, NARROWBAND.sampleRateHz, format.sampleRateHz)
  })
}

describe('a call over a network that loses 5 % of the packets, delays them by up to 60 ms, re-orders and repeats them', () => {
  beforeAll(loadOpus)

  it.each(LINES)('by $name leaves no hole in the speech, and one without concealment does', async line => {
    const utterances = utterancesOf(line)
    const clean = await holdImpairedCall(line, {}, utterances, SEED)
    const damaged = await holdImpairedCall(line, WORST, utterances, SEED)
    const figures = figuresOf(line, clean, damaged)
    expect(figures.packets_lost).toBeGreaterThan(0)
    expect(figures.packets_twice).toBeGreaterThan(0)
    expect(notConcealed(figures)).toEqual([])
    const unconcealed = await withoutConcealment(() => holdImpairedCall(line, WORST, utterances, SEED))
    expect(notConcealed(figuresOf(line, clean, unconcealed))).not.toEqual([])
  })

  it('a silence of 50 ms in speech that arrived 30 ms later is a gap of over 40 ms, and one in a pause is none', () => {
    const clean = new SyntheticSound(1000).vowel(100, 600, -20).samples
    const heard = new Int16Array(clean.length)
    heard.set(clean.subarray(0, clean.length - 240), 240)
    heard.fill(0, 8 * 330, 8 * 380)
    const { ms, longestMs, long } = findHoles(clean, heard, NARROWBAND)
    expect(Math.abs(ms - 50)).toBeLessThan(2)
    expect(Math.abs(longestMs - 50)).toBeLessThan(2)
    expect(long).toBe(1)
  })
})
