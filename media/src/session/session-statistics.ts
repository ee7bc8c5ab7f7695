import { wordsClass } from '../page/words.ts'
import type { MediaStatistics } from './media-session.ts'

/**
 * Counters of one session, plain numbers so that a packet costs an increment. `clearRtcp`: RTCP in clear on a secure session, which some
 * phones send by mistake; it is dropped.
 */
export const SessionCounters = wordsClass(
  'packetsSent',
  'octetsSent',
  'packetsReceived',
  'unauthenticated',
  'replayed',
  'foreign',
  'malformed',
  'missedSlots',
  'clearRtcp',
)
export type SessionCounters = InstanceType<typeof SessionCounters>

export function noStatistics(): MediaStatistics {
  return {
    packetsSent: 0,
    packetsReceived: 0,
    packetsLost: 0,
    packetsLate: 0,
    packetsDuplicate: 0,
    jitterMs: 0,
    jitterMeanMs: 0,
    jitterMaxMs: 0,
    roundTrip: null,
    farEnd: null,
    intervals: [],
    concealedSamples: 0,
    mediaConflicts: 0,
    sourcesRefused: 0,
    rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
    heardOverrunSamples: 0,
    missedSlots: 0,
  }
}
