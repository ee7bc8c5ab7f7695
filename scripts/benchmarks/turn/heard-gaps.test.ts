import { describe, expect, it } from 'vitest'
import { HeardGaps } from './heard-gaps.ts'

const speech = Int16Array.from({ length: 160 }, (_, i) => 6000 * Math.sin((2 * Math.PI * 300 * i) / 8000))
const silence = new Int16Array(160)

/** What is heard of frames that arrive every 20 ms, those at `lateFrom` and after it by `lateMs` later. */
function heard(frames: readonly Int16Array[], lateFrom = frames.length, lateMs = 0) {
  const gaps = new HeardGaps()
  for (const [i, frame] of frames.entries()) gaps.hear(1000 + i * 20 + (i >= lateFrom ? lateMs : 0), frame)
  return gaps.figures
}

describe('gaps that a caller of the benchmark hears', () => {
  const talk = Array.from({ length: 20 }, () => speech)

  it('packets in time, with pauses between words, have no gap', () => {
    expect(heard([...talk, ...Array(60).fill(silence), ...talk])).toEqual({ gaps: 0, longestMs: 0 })
    expect(heard(talk, 10, 40)).toEqual({ gaps: 0, longestMs: 40 })
  })

  it('packets that pause for more than 40 ms are a gap, in silence as well', () => {
    expect(heard(talk, 10, 41)).toEqual({ gaps: 1, longestMs: 41 })
    expect(heard(Array(20).fill(silence), 5, 300)).toEqual({ gaps: 1, longestMs: 300 })
  })

  it('speech that breaks off for 60 ms is a gap, though every packet is in time', () => {
    expect(heard([...talk, silence, silence, silence, ...talk])).toEqual({ gaps: 1, longestMs: 60 })
  })
})
