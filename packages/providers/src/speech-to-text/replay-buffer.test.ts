import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { encodingFor } from '../service-encoding.ts'
import { ReplayBuffer } from './replay-buffer.ts'

/** Audio whose bytes depend on their position. */
function audio(at: number, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, i) => (at + i) % 251)
}

function contents(buffer: ReplayBuffer): { at: number; length: number }[] {
  return [...buffer.stretches()].map(({ at, bytes }) => {
    expect([...bytes]).toEqual([...audio(at, bytes.length)])
    return { at, length: bytes.length }
  })
}

describe('the replay buffer of a recogniser', () => {
  it('the replay buffer of a recogniser returns the audio as it was written, with its gaps', () => {
    const buffer = new ReplayBuffer(encodingFor(NARROWBAND), 10_000)
    for (let at = 1000; at < 7000; at += 160) buffer.append(audio(at, 160), at)
    buffer.append(audio(20_000, 9000), 20_000)
    const stretches = contents(buffer)
    expect(stretches[0]!.at).toBe(1000)
    expect(stretches.reduce((sum, { length }) => sum + length, 0)).toBe(6080 + 9000)
    expect(stretches.some(({ at }) => at === 20_000)).toBe(true)
  })

  it('the replay buffer of a recogniser drops the audio that became words, to the sample', () => {
    const buffer = new ReplayBuffer(encodingFor(NARROWBAND), 10_000)
    buffer.append(audio(0, 1000), 0)
    buffer.forgetBefore(300)
    buffer.append(audio(1000, 5000), 1000)
    expect(buffer.from).toBe(300)
    expect(contents(buffer).reduce((sum, { length }) => sum + length, 0)).toBe(5700)
    buffer.forgetBefore(6000)
    expect(buffer.from).toBe(null)
  })

  it('the replay buffer of a recogniser never exceeds its limit', () => {
    const buffer = new ReplayBuffer(encodingFor(NARROWBAND), 1000)
    for (let at = 0; at < 400_000; at += 320) buffer.append(audio(at, 320), at)
    expect(buffer.from).toBe(392_000)
    buffer.append(audio(9_000_000, 320), 9_000_000)
    expect(buffer.from).toBe(392_320)
  })

  it('the replay buffer of a recogniser counts samples of two bytes at 16 kHz', () => {
    const buffer = new ReplayBuffer(encodingFor(WIDEBAND), 1000)
    for (let at = 0; at < 32_000; at += 320) buffer.append(audio(2 * at, 640), at)
    expect(buffer.from).toBe(16_000)
    buffer.forgetBefore(20_100)
    const [first] = [...buffer.stretches()]
    expect(first!.at).toBe(20_100)
    expect([...first!.bytes]).toEqual([...audio(40_200, first!.bytes.length)])
    const length = [...buffer.stretches()].reduce((sum, { bytes }) => sum + bytes.length, 0)
    expect(length).toBe(2 * (32_000 - 20_100))
  })
})
