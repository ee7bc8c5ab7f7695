import { existsSync, renameSync } from 'node:fs'
import type { SampleRateHz, Samples } from '@parley/kernel'
import { PARTIAL, segmentFrames, segmentPath } from '../recorder/segments.ts'
import { recordingFailure, WavFile } from './wav-file.ts'

/**
 * A recording in files of 10 s, each a complete WAV file that is renamed to its final name when it is full or the
 * recording ends.
 */
export class RecordingSegments {
  readonly #path: string
  readonly #sampleRateHz: SampleRateHz
  /** Frames of a full segment. */
  readonly #full: Samples
  #file: WavFile | null = null
  #number = 0
  /** Frames of the current segment. */
  #frames: Samples = 0

  /** `resumeAt`: continue at this frame, with the segment of a writer that died; 0 otherwise. */
  constructor(path: string, sampleRateHz: SampleRateHz, resumeAt: Samples) {
    this.#path = path
    this.#sampleRateHz = sampleRateHz
    this.#full = segmentFrames(sampleRateHz)
    this.#open(Math.floor(resumeAt / this.#full) + 1, resumeAt % this.#full)
  }

  /** Number of segments so far. */
  get count(): number {
    return this.#number
  }

  /** Appends `frames` byte pairs. */
  write(bytes: Uint8Array, frames: Samples): void {
    for (let done = 0; done < frames; ) {
      if (this.#frames === this.#full) this.#next()
      const count = Math.min(frames - done, this.#full - this.#frames)
      this.#file?.write(bytes.subarray(2 * done), count, this.#frames)
      this.#frames += count
      done += count
    }
  }

  /** Updates the header of the current segment. */
  settle(): void {
    this.#file?.setFrames(this.#frames)
  }

  /** Completes the last segment. Idempotent. */
  finish(): void {
    if (this.#file !== null) this.#complete(this.#file)
    this.#file = null
  }

  /** Closes the file without completing the segment. Idempotent. */
  close(): void {
    this.#file?.close()
    this.#file = null
  }

  #next(): void {
    if (this.#file !== null) this.#complete(this.#file)
    this.#open(this.#number + 1, 0)
  }

  #open(number: number, frames: Samples): void {
    this.#number = number
    this.#frames = frames
    const partial = segmentPath(this.#path, number) + PARTIAL
    // The writer that died may have renamed the segment just before.
    const complete = segmentPath(this.#path, number)
    if (frames > 0 && !existsSync(partial) && existsSync(complete)) renameSync(complete, partial)
    this.#file = new WavFile(partial, this.#sampleRateHz, frames > 0)
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
