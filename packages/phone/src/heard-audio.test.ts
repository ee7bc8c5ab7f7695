import { describe, expect, it } from 'vitest'
import { HeardAudio } from './heard-audio.ts'

const SECOND = 8000

/** Samples that tell their own position. */
const at = (from: number, count: number) => Int16Array.from({ length: count }, (_, i) => (from + i) % 30_000)

describe('what a phone remembers of what it heard', () => {
  it('is everything, in one piece, until the memory is full; then the newest', () => {
    const memory = new HeardAudio(25 * SECOND)
    for (let second = 0; second < 25; second++) memory.append(at(second * SECOND, SECOND), 400 + second * SECOND)
    expect(memory.samples()).toHaveLength(25 * SECOND)
    for (let second = 25; second < 60; second++) {
      memory.append(at(second * SECOND, SECOND), 400 + second * SECOND)
      const newest = at((second - 24) * SECOND, 25 * SECOND)
      expect(Buffer.compare(Buffer.from(memory.samples().buffer), Buffer.from(newest.buffer))).toBe(0)
    }
  })

  it('holds silence in place of what was lost', () => {
    const memory = new HeardAudio(10 * SECOND)
    memory.append(at(1, 100), 5000)
    memory.append(at(1, 100), 5150)
    expect(memory.samples()).toEqual(Int16Array.from([...at(1, 100), ...new Int16Array(50), ...at(1, 100)]))
  })

  it('forgets what a loss longer than its memory leaves behind', () => {
    const memory = new HeardAudio(2 * SECOND)
    memory.append(at(1, 3 * SECOND), 0)
    memory.append(at(1, 1), 1e9)
    expect(memory.samples()).toEqual(Int16Array.from([...new Int16Array(2 * SECOND - 1), 1]))
  })
})
