import type { MediaStatistics } from '@parley/leg'
import { expect, it } from 'vitest'
import { qualityOf } from './call-quality.ts'

const statistics = (changes: Partial<MediaStatistics>): MediaStatistics => ({
  packetsSent: 1000,
  packetsReceived: 1000,
  packetsLost: 0,
  packetsLate: 0,
  packetsDuplicate: 0,
  jitterMs: 1,
  concealedSamples: 0 as MediaStatistics['concealedSamples'],
  rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
  heardOverrunSamples: 0 as MediaStatistics['heardOverrunSamples'],
  missedSlots: 0,
  ...changes,
})

it('a call without loss has the MOS of a clean narrow-band call', () => {
  const quality = qualityOf(statistics({}))
  expect(quality).toMatchObject({ jitter_ms: 1, loss: 0 })
  expect(quality!.mos).toBeGreaterThan(4.3)
  expect(quality!.mos).toBeLessThan(4.45)
})

it('late packets count as lost, and the MOS falls as loss rises', () => {
  expect(qualityOf(statistics({ packetsReceived: 970, packetsLost: 20, packetsLate: 10 }))?.loss).toBe(0.03)
  const scores = [0, 10, 50, 200, 999].map(packetsLost => qualityOf(statistics({ packetsLost }))!.mos)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  expect(scores.at(-1)).toBeGreaterThanOrEqual(1)
})

it('a call without received packets has no quality', () => {
  expect(qualityOf(statistics({ packetsReceived: 0 }))).toBeNull()
})
