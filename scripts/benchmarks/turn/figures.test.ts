import { describe, expect, it } from 'vitest'
import { cpuPerCallSecond, eventLoopShare, percentile, turnFigures } from './figures.ts'
import { scriptedDelay, scriptedLead } from './script.ts'

/** A call whose turns take `overheads[i]` ms beyond the scripted waits; the caller's sound ends 10 ms before the end of its frame. */
const call = (overheads: readonly number[]) =>
  overheads.map((overhead, i) => {
    const lastSentAt = 5000 * i
    return {
      lastSentAt,
      lastSoundAt: lastSentAt - 10,
      firstHeardAt: lastSentAt + 300 + scriptedDelay(i + 1, 200) + overhead,
    }
  })

describe('the figures of a row', () => {
  it('overhead is the measured time without the configured waits', () => {
    const figures = turnFigures([call([900, 10, 20]), call([900, 30, 40])], {
      waitsMs: 300,
      modelMs: 200,
      unmeasured: 1,
    })
    expect(figures).toMatchObject({
      turns: 4,
      overhead_p50_ms: 20,
      overhead_p95_ms: 40,
      overhead_from_sound_p50_ms: 30,
    })
    expect(figures.e2e_p50_ms).toBeGreaterThan(500)
    expect(figures.e2e_p95_ms).toBeLessThan(300 + 220 + 40)
  })

  it('a quantile is a value that occurred, and null without values', () => {
    expect(percentile([5, 1, 3], 0.5)).toBe(3)
    expect(percentile([1, 2, 3, 4], 0.5)).toBe(2)
    expect(
      percentile(
        Array.from({ length: 100 }, (_, i) => 100 - i),
        0.95,
      ),
    ).toBe(95)
    expect(percentile([7], 0.95)).toBe(7)
    expect(percentile([], 0.5)).toBeNaN()
  })

  it('CPU time of the engine is given per second of one call', () => {
    const before = { main: 500, media: 100, other: 40 }
    const after = { main: 900, media: 300, other: 100 }
    expect(cpuPerCallSecond(before, after, 20)).toEqual({ main: 20, media: 10, other: 3, all: 33 })
    expect(cpuPerCallSecond(null, null, 20)).toBeNull()
  })

  it('the busy share of the engine’s event loop is that between two readings', () => {
    const counts = { requests: 0, withPassages: 0, misheard: [], linesInTwo: 0 }
    const before = { activeMs: 100, idleMs: 900, ...counts }
    expect(eventLoopShare(before, { activeMs: 400, idleMs: 1600, ...counts })).toBe(0.3)
  })
})

describe('the scripted delays', () => {
  it('delays and ends of speech are spread evenly over the 20 ms of a frame', () => {
    const turns = Array.from({ length: 40 }, (_, i) => i + 1)
    for (const phases of [
      turns.map(turn => (scriptedDelay(turn, 200) - 200) / 20),
      turns.map(turn => scriptedLead(turn) / 160),
    ]) {
      const sorted = phases.toSorted((a, b) => a - b)
      expect(sorted[0]).toBeGreaterThanOrEqual(0)
      expect(sorted.at(-1)).toBeLessThan(1)
      sorted.slice(1).forEach((phase, i) => {
        expect(phase - sorted[i]!).toBeLessThan(0.1)
      })
    }
  })
})
