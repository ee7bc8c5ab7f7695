import { NARROWBAND, type Samples } from '@parley/kernel'
import { MediaError } from '../errors.ts'

/** 10 s. Segment n (from 1) holds the frames from (n - 1) * SEGMENT_FRAMES on. */
export const SEGMENT_FRAMES: Samples = 10 * NARROWBAND.sampleRateHz

const DIGITS = 6
/** What a segment is called until it is complete. */
export const PARTIAL = '.part'

/** `<path>.000001.wav`; with more than six digits from 2777 hours on. */
export function segmentPath(path: string, number: number): string {
  return `${path}.${String(number).padStart(DIGITS, '0')}.wav`
}

/** The segment that frame `position` belongs to. */
export function segmentNumber(position: Samples): number {
  return Math.floor(position / SEGMENT_FRAMES) + 1
}

/** One segment as it was found. */
export interface FoundSegment {
  readonly number: number
  readonly frames: Samples
}

export interface JoinPlan {
  readonly frames: Samples
  /** In order, without gap or overlap. */
  readonly pieces: readonly { readonly number: number; readonly frames: Samples; readonly at: Samples }[]
}

/** Reads the number out of a file's name beside the recording called `name`, or null. */
export function segmentNumberOf(name: string, file: string): { number: number; partial: boolean } | null {
  if (!file.startsWith(`${name}.`)) return null
  const match = /^(\d{6,9})\.wav(\.part)?$/.exec(file.slice(name.length + 1))
  return match === null ? null : { number: Number(match[1]), partial: match[2] !== undefined }
}

/**
 * Where each segment goes in the joined recording: at its own position, sample by sample. Throws `MediaError`
 * "segment_missing" where a number is not there or there is none at all, and "segment_short" where one that is not the
 * last is not complete.
 */
export function planJoin(found: readonly FoundSegment[]): JoinPlan {
  const pieces = [...found]
    .sort((a, b) => a.number - b.number)
    .map(({ number, frames }) => ({ number, frames, at: (number - 1) * SEGMENT_FRAMES }))
  const last = pieces.at(-1)
  for (const [i, piece] of pieces.entries()) {
    if (piece.number !== i + 1) throw new MediaError('segment_missing', `segment ${i + 1} is not there`)
    if (piece.frames > SEGMENT_FRAMES || (piece !== last && piece.frames < SEGMENT_FRAMES)) {
      throw new MediaError('segment_short', `segment ${piece.number} has ${piece.frames} frames`)
    }
  }
  if (last === undefined) throw new MediaError('segment_missing', 'there are no segments')
  return { frames: last.at + last.frames, pieces }
}
