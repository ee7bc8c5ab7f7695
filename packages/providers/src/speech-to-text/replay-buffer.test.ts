import { describe, expect, it } from 'vitest'
import { ReplayBuffer } from './replay-buffer.ts'

/** Audio whose bytes tell where they lie. */
function audio(at: number, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, i) => (at + i) % 251)
}

function contents(kept: ReplayBuffer): { at: number; length: number }[] {
  return [...kept.stretches()].map(({ at, bytes }) => {
    expect([...bytes]).toEqual([...audio(at, bytes.length)])
    return { at, length: bytes.length }
  })
}

describe('the replay buffer of a recogniser', () => {
  it('returns the audio as it was written, with its gaps', () => {
    const kept = new ReplayBuffer(80_000)
    for (let at = 1000; at < 7000; at += 160) kept.append(audio(at, 160), at)
    kept.append(audio(20_000, 9000), 20_000)
    const stretches = contents(kept)
    expect(stretches[0]!.at).toBe(1000)
    expect(stretches.reduce((sum, { length }) => sum + length, 0)).toBe(6080 + 9000)
    expect(stretches.some(({ at }) => at === 20_000)).toBe(true)
  })

  it('drops the audio that became words, to the sample', () => {
    const kept = new ReplayBuffer(80_000)
    kept.append(audio(0, 1000), 0)
    kept.forgetBefore(300)
    kept.append(audio(1000, 5000), 1000)
    expect(kept.from).toBe(300)
    expect(contents(kept).reduce((sum, { length }) => sum + length, 0)).toBe(5700)
    kept.forgetBefore(6000)
    expect(kept.from).toBe(null)
  })

  it('never exceeds its limit', () => {
    const kept = new ReplayBuffer(8000)
    for (let at = 0; at < 400_000; at += 320) kept.append(audio(at, 320), at)
    expect(kept.from).toBe(392_000)
    kept.append(audio(9_000_000, 320), 9_000_000)
    expect(kept.from).toBe(392_320)
  })
})
