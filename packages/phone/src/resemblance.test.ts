import { describe, expect, it } from 'vitest'
import { loudness, resemblance } from './resemblance.ts'

/** Correlation of unrelated speech stays near 0.3; a G.711 path gives more than 0.95. */
const RESEMBLANCE_FLOOR = 0.5

/** Speech-like: bursts of a gliding voiced tone, different for each seed. */
function babble(seed: number, seconds: number): Int16Array {
  const out = new Int16Array(seconds * 8000)
  let phase = 0
  let pitch = 120
  let gain = 0
  let state = seed
  for (let i = 0; i < out.length; i++) {
    if (i % 800 === 0) {
      state = (state * 1103515245 + 12345) & 0x7fffffff
      pitch = 90 + (state % 200)
      gain = (state >> 8) % 3 === 0 ? 0.1 : 1
    }
    phase += (2 * Math.PI * pitch) / 8000
    out[i] = 8000 * gain * (Math.sin(phase) + 0.5 * Math.sin(3 * phase))
  }
  return out
}

function delayed(samples: Int16Array, byMs: number): Int16Array {
  const out = new Int16Array(samples.length + byMs * 8)
  out.set(samples, byMs * 8)
  return out
}

describe('comparing heard audio with spoken audio', () => {
  it('delayed speech is found, and its delay is reported', () => {
    const spoken = babble(1, 5)
    const { score, offsetMs } = resemblance(spoken, delayed(spoken, 300))
    expect(score).toBeGreaterThan(0.99)
    expect(offsetMs).toBeCloseTo(300, 0)
  })

  it('speech that is shifted by less than one decimated sample is found', () => {
    let state = 9
    const hiss = Int16Array.from({ length: 40_000 }, () => {
      state = (state * 1103515245 + 12345) & 0x7fffffff
      return ((state >> 12) % 8000) - 4000
    })
    const spoken = hiss.map((_, i) => ((hiss[i] ?? 0) + (hiss[i + 1] ?? 0) + (hiss[i + 2] ?? 0)) / 3)
    for (const samples of [1, 2, 3, 2402]) {
      const heard = new Int16Array(spoken.length + samples)
      heard.set(spoken, samples)
      expect(resemblance(spoken, heard).score).toBeGreaterThan(0.99)
    }
  })

  it('speech with a half-second gap is found', () => {
    const spoken = babble(2, 5)
    const heard = delayed(spoken, 100)
    heard.fill(0, 12_000, 16_000)
    expect(resemblance(spoken, heard).score).toBeGreaterThan(0.9)
  })

  it('silence, noise and other speech get a low score', () => {
    const spoken = babble(3, 5)
    expect(resemblance(spoken, new Int16Array(40_000)).score).toBe(0)
    expect(resemblance(spoken, babble(77, 5)).score).toBeLessThan(RESEMBLANCE_FLOOR + 0.2)
    let state = 5
    const noise = Int16Array.from({ length: 40_000 }, () => {
      state = (state * 1103515245 + 12345) & 0x7fffffff
      return (state >> 12) % 8000
    })
    expect(resemblance(spoken, noise).score).toBeLessThan(RESEMBLANCE_FLOOR)
  })

  it('loudness is a fraction of full scale', () => {
    expect(loudness(new Int16Array(100))).toBe(0)
    expect(loudness(Int16Array.from({ length: 100 }, (_, i) => (i % 2 ? 16384 : -16384)))).toBeCloseTo(0.5, 3)
  })
})
