import type { Ms, SampleRateHz, Samples } from '@parley/kernel'
import { RecordingRingReader } from '../recorder/recording-ring.ts'
import type { RecordingSegments as SegmentMode } from '../session/media-session.ts'
import { loadNativeAddon } from './native-packet-io.ts'
import { RecordingSegments } from './recording-segments.ts'
import { WavFile } from './wav-file.ts'

/** Size of one write: 2 s of both channels at 8 kHz. */
const CHUNK_BYTES = 32_768

const chunk = new Uint8Array(CHUNK_BYTES)
const addon = loadNativeAddon()
const COPY = typeof addon === 'string' ? null : addon.copyRecording

/** One recording on disk, read from its ring: valid after every `flush`. Errors are `MediaError`s. */
export class RecordingFile {
  readonly #reader: RecordingRingReader
  readonly #swap: boolean
  /** Position in the ring at which the recording begins. */
  readonly #from: Samples
  readonly #whole: WavFile | null
  readonly #segments: RecordingSegments | null

  /**
   * `resume`: continue the files of a writer that died, from the ring's own position; otherwise create new ones.
   * `segments`: also or only in files of 10 s. `from`: the position in the ring at which the recording begins.
   */
  constructor(
    ring: SharedArrayBuffer,
    path: string,
    swap: boolean,
    resume: boolean,
    segments?: SegmentMode,
    from: Samples = 0,
  ) {
    this.#reader = new RecordingRingReader(ring, COPY)
    this.#swap = swap
    this.#from = from
    const { sampleRateHz } = this.#reader
    const position = this.#frames
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
    return (1000 * this.#frames) / this.#reader.sampleRateHz
  }

  /** Number of segment files. */
  get segments(): number {
    return this.#segments?.count ?? 0
  }

  /** Position in the ring up to which the recording has the audio. */
  get position(): Samples {
    return this.#reader.position
  }

  get #frames(): Samples {
    return this.#reader.position - this.#from
  }

  /** Completes the files with the audio that both channels have; `close` is next. */
  end(): void {
    this.flush(false)
    this.#segments?.finish()
  }

  /** Appends the audio that both channels have (all of it when `finishing`), then updates the headers. */
  flush(finishing: boolean): void {
    let left = this.#reader.available(finishing)
    if (left > 0) {
      while (left > 0) {
        const frames = this.#reader.copy(chunk, left, this.#swap)
        this.#whole?.write(chunk, frames, this.#frames)
        this.#segments?.write(chunk, frames)
        this.#reader.release(frames)
        left -= frames
      }
      this.#whole?.setFrames(this.#frames)
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
