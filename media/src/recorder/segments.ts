import { NARROWBAND, type Samples } from '@parley/kernel'

/** 10 s. Segment n (from 1) holds the frames from (n - 1) * SEGMENT_FRAMES on. */
export const SEGMENT_FRAMES: Samples = 10 * NARROWBAND.sampleRateHz

const DIGITS = 6
/** Suffix of a segment's file until it is complete. */
export const PARTIAL = '.part'

/** `<path>.000001.wav`; with more than six digits from 2777 hours on. */
export function segmentPath(path: string, number: number): string {
  return `${path}.${String(number).padStart(DIGITS, '0')}.wav`
}

/** The segment that frame `position` belongs to. */
export function segmentNumber(position: Samples): number {
  return Math.floor(position / SEGMENT_FRAMES) + 1
}
