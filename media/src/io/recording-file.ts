import type { Ms, SampleRateHz } from '@parley/kernel'
import { RecordingRingReader } from '../recorder/recording-ring.ts'
import type { RecordingSegments as SegmentMode } from '../session/media-session.ts'
import { RecordingSegments } from './recording-segments.ts'
import { WavFile } from './wav-file.ts'

/** Size of one write: 2 s of both channels at 8 kHz. */
const CHUNK_BYTES = 32_768

const chunk = new Uint8Array(CHUNK_BYTES)

/** One recording on disk, read from its ring: valid after every `flush`. Errors are `MediaError`s. */
export class RecordingFile {
  readonly #reader: RecordingRingReader
  readonly #swap: boolean
  readonly #whole: WavFile | null
  readonly #segments: RecordingSegments | null

  /**
   * `resume`: continue the files of a writer that died, from the ring's own position; otherwise create new ones.
   * `segments`: also or only in files of 10 s.
   */
  constructor(ring: SharedArrayBuffer, path: string, swap: boolean, resume: boolean, segments?: SegmentMode) {
    this.#reader = new RecordingRingReader(ring)
    this.#swap = swap
    const { position, sampleRateHz } = this.#reader
    this.#whole = segments === 'only' ? null : new WavFile(path, sampleRateHz, resume)
    try {
      this.#whole?.setFrames(position)
      this.#segments = segments === undefined ? null : new RecordingSegments(path, sampleRateHz, resume ? position : 0)
    } catch (error) {
      this.#whole?.close()
      throw error
    }
  }

  get sampleRateHz(): SampleRateHz {
    return this.#reader.sampleRateHz
  }

  get durationMs(): Ms {
    return (1000 * this.#reader.position) / this.#reader.sampleRateHz
  }

  /** Number of segment files. */
  get segments(): number {
    return this.#segments?.count ?? 0
  }

  /** Appends the audio that both channels have (all of it when `finishing`), then updates the headers. */
  flush(finishing: boolean): void {
    let left = this.#reader.available(finishing)
    if (left > 0) {
      while (left > 0) {
        const frames = this.#reader.copy(chunk, left, this.#swap)
        this.#whole?.write(chunk, frames, this.#reader.position)
        this.#segments?.write(chunk, frames)
        this.#reader.release(frames)
        left -= frames
      }
      this.#whole?.setFrames(this.#reader.position)
      this.#segments?.settle()
    }
    if (finishing) this.#segments?.finish()
  }

  /** Idempotent. */
  close(): void {
    this.#segments?.close()
    this.#whole?.close()
  }
}
