import { describe, expect, it } from 'vitest'
import { HeardAudio } from './heard-audio.ts'

const SECOND = 8000

/** Samples whose value is their position. */
const at = (from: number, count: number) => Int16Array.from({ length: count }, (_, i) => (from + i) % 30_000)

describe('the buffer of heard audio', () => {
  it('the buffer of heard audio stores all audio contiguously until it is full, then the newest', () => {
    const buffer = new HeardAudio(25 * SECOND)
    for (let second = 0; second < 25; second++) buffer.append(at(second * SECOND, SECOND), 400 + second * SECOND)
    expect(buffer.samples()).toHaveLength(25 * SECOND)
    for (let second = 25; second < 60; second++) {
      buffer.append(at(second * SECOND, SECOND), 400 + second * SECOND)
      const newest = at((second - 24) * SECOND, 25 * SECOND)
      expect(Buffer.compare(Buffer.from(buffer.samples().buffer), Buffer.from(newest.buffer))).toBe(0)
    }
  })

  it('the buffer of heard audio fills a gap of lost audio with silence', () => {
    const buffer = new HeardAudio(10 * SECOND)
    buffer.append(at(1, 100), 5000)
    buffer.append(at(1, 100), 5150)
    expect(buffer.samples()).toEqual(Int16Array.from([...at(1, 100), ...new Int16Array(50), ...at(1, 100)]))
  })

  it('the buffer of heard audio holds only silence and new audio after a gap longer than its capacity', () => {
    const buffer = new HeardAudio(2 * SECOND)
    buffer.append(at(1, 3 * SECOND), 0)
    buffer.append(at(1, 1), 1e9)
    expect(buffer.samples()).toEqual(Int16Array.from([...new Int16Array(2 * SECOND - 1), 1]))
  })
})
