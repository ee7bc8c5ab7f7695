import { existsSync, renameSync } from 'node:fs'
import type { Samples } from '@parley/kernel'
import { PARTIAL, SEGMENT_FRAMES, segmentNumber, segmentPath } from '../recorder/segments.ts'
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
