import { closeSync, existsSync, openSync, readdirSync, readSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Samples } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import {
  type JoinPlan,
  PARTIAL,
  planJoin,
  SEGMENT_FRAMES,
  segmentNumber,
  segmentNumberOf,
  segmentPath,
} from '../recorder/segments.ts'
import { WAV_HEADER_BYTES } from '../recorder/wav.ts'
import { recordingFailure, WavFile } from './wav-file.ts'

/** A recording in files of 10 s, each complete in itself and renamed to its name when it is full or the last one ends. */
export class RecordingSegments {
  readonly #path: string
  #file: WavFile | null = null
  #number = 0
  /** Frames of the segment in hand. */
  #frames: Samples = 0

  /** `resumeAt`: go on at this frame with the segment of a writer that died; 0 otherwise. */
  constructor(path: string, resumeAt: Samples) {
    this.#path = path
    this.#open(segmentNumber(resumeAt), resumeAt % SEGMENT_FRAMES)
  }

  /** Segments begun so far. */
  get count(): number {
    return this.#number
  }

  /** Puts `frames` byte pairs at frame `at` of the whole recording; in order. */
  write(bytes: Uint8Array, frames: Samples, at: Samples): void {
    for (let done = 0; done < frames; ) {
      if (this.#frames === SEGMENT_FRAMES) this.#next(segmentNumber(at + done))
      const count = Math.min(frames - done, SEGMENT_FRAMES - this.#frames)
      this.#file?.write(bytes.subarray(2 * done), count, this.#frames)
      this.#frames += count
      done += count
    }
  }

  /** Says in the headers what is there. */
  settle(): void {
    this.#file?.setFrames(this.#frames)
  }

  /** The recording is complete. Idempotent. */
  finish(): void {
    if (this.#file !== null) this.#complete(this.#file)
    this.#file = null
  }

  /** Gives the file back without completing the segment. Idempotent. */
  close(): void {
    this.#file?.close()
    this.#file = null
  }

  #next(number: number): void {
    if (this.#file !== null) this.#complete(this.#file)
    this.#open(number, 0)
  }

  #open(number: number, frames: Samples): void {
    this.#number = number
    this.#frames = frames
    const partial = segmentPath(this.#path, number) + PARTIAL
    // The writer that died may have just renamed the segment, before it could say so.
    const complete = segmentPath(this.#path, number)
    if (frames > 0 && !existsSync(partial) && existsSync(complete)) renameSync(complete, partial)
    this.#file = new WavFile(partial, frames > 0)
    this.#file.setFrames(frames)
  }

  #complete(file: WavFile): void {
    file.setFrames(this.#frames)
    file.close()
    try {
      renameSync(file.path, file.path.slice(0, -PARTIAL.length))
    } catch (error) {
      throw recordingFailure(this.#path, error)
    }
  }
}

const chunk = new Uint8Array(65_536)

/**
 * Makes the one WAV at `path` from the segments beside it, the last of which may be incomplete (a process that was
 * killed). It appears complete or not at all; the segments stay. Errors are those of `planJoin` and of recordings.
 */
export function joinSegments(path: string, into = path): JoinPlan {
  const files = new Map<number, string>()
  for (const file of readdirSync(dirname(path))) {
    const segment = segmentNumberOf(basename(path), file)
    // A complete one wins over a leftover of the same number.
    if (segment !== null && !(segment.partial && files.has(segment.number))) {
      files.set(segment.number, join(dirname(path), file))
    }
  }
  const plan = planJoin([...files].map(([number, file]) => ({ number, frames: framesOf(file) })))
  const joined = new WavFile(`${into}${PARTIAL}`, false)
  try {
    for (const { number, frames, at } of plan.pieces) copyFrames(files.get(number) ?? '', frames, joined, at)
    joined.setFrames(plan.frames)
  } finally {
    joined.close()
  }
  try {
    renameSync(joined.path, into)
  } catch (error) {
    throw recordingFailure(into, error)
  }
  return plan
}

/** What really is in the file: its header may be half a second behind. */
function framesOf(file: string): Samples {
  return Math.min(SEGMENT_FRAMES, Math.max(0, Math.floor((statSync(file).size - WAV_HEADER_BYTES) / 2)))
}

function copyFrames(file: string, frames: Samples, joined: WavFile, at: Samples): void {
  const descriptor = openSync(file, 'r')
  try {
    for (let done = 0; done < frames; ) {
      const wanted = Math.min(chunk.length, 2 * (frames - done))
      const got = readSync(descriptor, chunk, 0, wanted, WAV_HEADER_BYTES + 2 * done) >> 1
      if (got === 0) throw new MediaError('segment_short', `${file} became shorter while it was read`)
      joined.write(chunk, got, at + done)
      done += got
    }
  } finally {
    closeSync(descriptor)
  }
}
