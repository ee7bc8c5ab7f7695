import type { MediaStatistics } from '@parley/leg'
import { expect, it } from 'vitest'
import { qualityOf } from './call-quality.ts'

const statistics = (changes: Partial<MediaStatistics>): MediaStatistics => ({
  packetsSent: 1000,
  packetsReceived: 1000,
  packetsLost: 0,
  packetsLate: 0,
  packetsDuplicate: 0,
  jitterMs: 3,
  jitterMeanMs: 1,
  jitterMaxMs: 4,
  roundTrip: null,
  farEnd: null,
  intervals: [],
  mediaConflicts: 0,
  sourcesRefused: 0,
  concealedSamples: 0 as MediaStatistics['concealedSamples'],
  rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
  heardOverrunSamples: 0 as MediaStatistics['heardOverrunSamples'],
  missedSlots: 0,
  ...changes,
})

it('a call without loss has the MOS of a clean narrow-band call', () => {
  const quality = qualityOf(statistics({}))
  expect(quality).toMatchObject({ jitter_ms: 1, jitter_max_ms: 4, loss: 0, round_trip_ms: null, far_end: null })
  expect(quality!.mos).toBeGreaterThan(4.3)
  expect(quality!.mos).toBeLessThan(4.45)
})

it('late packets count as lost, and the MOS falls as loss rises', () => {
  expect(qualityOf(statistics({ packetsReceived: 970, packetsLost: 20, packetsLate: 10 }))?.loss).toBe(0.03)
  const scores = [0, 10, 50, 200, 999].map(packetsLost => qualityOf(statistics({ packetsLost }))!.mos)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  expect(scores.at(-1)).toBeGreaterThanOrEqual(1)
})

it('a long round trip lowers the MOS, and each 10 s have one of their own', () => {
  const quality = qualityOf(
    statistics({
      roundTrip: { meanMs: 600.004, maxMs: 900 },
      intervals: [
        { received: 500, lost: 0, jitterMs: 1 },
        { received: 400, lost: 100, jitterMs: 30 },
      ],
    }),
  )!
  expect(quality.round_trip_ms).toBe(600)
  expect(quality.mos).toBeLessThan(qualityOf(statistics({}))!.mos - 0.2)
  expect(quality.mos_intervals[0]).toBe(quality.mos)
  expect(quality.mos_intervals[1]).toBeLessThan(quality.mos - 1)
})

it('the quality has what the far end reports and the conflicts between its sources', () => {
  const farEnd = { packetsLost: 10, loss: 0.01, jitterMs: 2.5, jitterMaxMs: 8 }
  expect(qualityOf(statistics({ farEnd, mediaConflicts: 2 }))).toMatchObject({
    far_end: { loss: 0.01, jitter_ms: 2.5, jitter_max_ms: 8 },
    media_conflicts: 2,
  })
})

it('a call without received packets has no quality', () => {
  expect(qualityOf(statistics({ packetsReceived: 0 }))).toBeNull()
})
