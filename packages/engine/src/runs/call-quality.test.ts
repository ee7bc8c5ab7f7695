import type { MediaStatistics } from '@parley/leg'
import { expect, it } from 'vitest'
import { qualityOf } from './call-quality.ts'

const heard = (changes: Partial<MediaStatistics>): MediaStatistics => ({
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

it('gives a clean call what a clean narrow-band call gets', () => {
  const quality = qualityOf(heard({}))
  expect(quality).toMatchObject({ jitter_ms: 1, loss: 0 })
  expect(quality!.mos).toBeGreaterThan(4.3)
  expect(quality!.mos).toBeLessThan(4.45)
})

it('counts what came too late as lost, and thinks the less of the call the more is lost', () => {
  expect(qualityOf(heard({ packetsReceived: 970, packetsLost: 20, packetsLate: 10 }))?.loss).toBe(0.03)
  const scores = [0, 10, 50, 200, 999].map(packetsLost => qualityOf(heard({ packetsLost }))!.mos)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  expect(scores.at(-1)).toBeGreaterThanOrEqual(1)
})

it('has nothing to say of a call that nothing came from', () => {
  expect(qualityOf(heard({ packetsReceived: 0 }))).toBeNull()
})
