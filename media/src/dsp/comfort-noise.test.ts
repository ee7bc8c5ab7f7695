import { describe, expect, it } from 'vitest'
import { encodePcmu } from '../codec/g711.ts'
import { ComfortNoise } from './comfort-noise.ts'

describe('comfort noise', () => {
  it('comfort noise is digital silence by default: 0xFF in PCMU', () => {
    const samples = new Int16Array(4).fill(5)
    new ComfortNoise().write(samples, 1, 2)
    expect([...samples]).toEqual([5, 0, 0, 5])
    const bytes = new Uint8Array(2)
    encodePcmu(samples, 1, 2, bytes, 0)
    expect([...bytes]).toEqual([0xff, 0xff])
  })

  it('comfort noise has the configured level', () => {
    for (const levelDbfs of [-70, -50, -40]) {
      const samples = new Int16Array(16_000)
      new ComfortNoise({ levelDbfs }).write(samples, 0, samples.length)
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
      expect(10 * Math.log10(power / 32768 ** 2)).toBeCloseTo(levelDbfs, 0)
      expect(Math.abs(samples.reduce((sum, sample) => sum + sample, 0) / samples.length)).toBeLessThan(5)
    }
    expect(() => new ComfortNoise({ levelDbfs: -10 })).toThrow(expect.objectContaining({ code: 'invalid_noise_level' }))
  })
})
