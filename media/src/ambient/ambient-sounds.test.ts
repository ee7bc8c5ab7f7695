import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { AMBIENT_SOUNDS, ambientLoop } from './ambient-sounds.ts'
import { BackgroundSound } from './background-sound.ts'

function rms(samples: ArrayLike<number>): number {
  let power = 0
  for (let i = 0; i < samples.length; i++) power += samples[i]! ** 2
  return Math.sqrt(power / samples.length)
}

/** Mean size of a step from one sample to the next, relative to the level: higher sounds have larger steps. */
function brightness(samples: Int16Array): number {
  let steps = 0
  for (let i = 1; i < samples.length; i++) steps += Math.abs(samples[i]! - samples[i - 1]!)
  return steps / samples.length / rms(samples)
}

describe('ambient sounds', () => {
  it('there are six ambient sounds', () => expect(AMBIENT_SOUNDS).toHaveLength(6))

  it.each(AMBIENT_SOUNDS)('%s is quiet, does not clip, and goes on without a seam', sound => {
    for (const format of [NARROWBAND, WIDEBAND]) {
      const loop = ambientLoop(sound, format)
      expect(20 * Math.log10(rms(loop) / 32768)).toBeCloseTo(-36, 0)
      expect(loop.every(sample => Math.abs(sample) < 32767)).toBe(true)
      const steps = loop.map((sample, i) => Math.abs(sample - loop[(i + 1) % loop.length]!))
      expect(steps.at(-1)!).toBeLessThanOrEqual(steps.reduce((most, step) => Math.max(most, step)))
      // The second around the seam is as loud as any other.
      const second = format.sampleRateHz
      const seam = [...loop.subarray(loop.length - second / 2), ...loop.subarray(0, second / 2)]
      expect(rms(seam)).toBeGreaterThan(rms(loop) / 4)
      expect(rms(seam)).toBeLessThan(rms(loop) * 4)
    }
  })

  it('every sound is another one, and the same each time', () => {
    const loops = AMBIENT_SOUNDS.map(sound => ambientLoop(sound, NARROWBAND))
    const kinds = new Set(loops.map(loop => brightness(loop).toFixed(2)))
    expect(kinds.size).toBeGreaterThanOrEqual(5)
    expect(ambientLoop('coffee-shop', NARROWBAND)).toBe(loops[0])
  })
})

describe('a background sound', () => {
  it('a background sound is added to the frame and begins again at its end', () => {
    const background = new BackgroundSound(Int16Array.of(100, -100, 50), 0.5)
    const frame = Int16Array.of(1000, 1000, 1000, 1000, 7)
    background.mixInto(frame, 4)
    expect([...frame]).toEqual([1050, 950, 1025, 1050, 7])
    background.mixInto(frame, 1)
    expect(frame[0]).toBe(1000)
  })

  it('loud sounds are clipped, not wrapped', () => {
    const frame = Int16Array.of(32_000, -32_000)
    new BackgroundSound(Int16Array.of(2000, -2000), 1).mixInto(frame, 2)
    expect([...frame]).toEqual([32_767, -32_768])
  })
})
