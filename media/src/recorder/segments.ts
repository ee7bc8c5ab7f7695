import type { SampleRateHz, Samples } from '@parley/kernel'

const SEGMENT_SECONDS = 10

const DIGITS = 6
/** Suffix of a segment's file until it is complete. */
export const PARTIAL = '.part'

/** `<path>.000001.wav`; with more than six digits from 2777 hours on. */
export function segmentPath(path: string, number: number): string {
  return `${path}.${String(number).padStart(DIGITS, '0')}.wav`
}

/** Frames of a full segment. Segment n (from 1) holds the frames from (n - 1) times this on. */
export function segmentFrames(sampleRateHz: SampleRateHz): Samples {
  return SEGMENT_SECONDS * sampleRateHz
}
