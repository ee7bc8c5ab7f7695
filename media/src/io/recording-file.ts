import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { ParleyError, type Samples } from '@parley/kernel'
import { RecordingRingReader } from '../recorder/recording-ring.ts'
import { WAV_HEADER_BYTES, writeWavHeader } from '../recorder/wav.ts'

/** 2 s of both channels at a time. */
const CHUNK_BYTES = 32_768
/** Recordings are private to the account that runs the process. */
const FILE_MODE = 0o600

const chunk = new Uint8Array(CHUNK_BYTES)
const header = new Uint8Array(WAV_HEADER_BYTES)

/** One recording's WAV on disk, fed from its ring. The file is valid after every `flush`. Errors are `ParleyError`s. */
export class RecordingFile {
  readonly #reader: RecordingRingReader
  readonly #swap: boolean
  readonly #path: string
  #descriptor: number

  /** `resume`: go on with the file of a writer that died, from the ring's own position; otherwise a new file. */
  constructor(ring: SharedArrayBuffer, path: string, swap: boolean, resume: boolean) {
    this.#reader = new RecordingRingReader(ring)
    this.#swap = swap
    this.#path = path
    try {
      mkdirSync(dirname(path), { recursive: true })
      this.#descriptor = openSync(
        path,
        constants.O_WRONLY | constants.O_CREAT | (resume ? 0 : constants.O_TRUNC),
        FILE_MODE,
      )
    } catch (error) {
      throw this.#failure(error)
    }
    try {
      this.#writeHeader(this.#reader.position)
    } catch (error) {
      this.close()
      throw error
    }
  }

  get frames(): Samples {
    return this.#reader.position
  }

  /** Appends what both channels have (all there is when `finishing`), then the header that says so. */
  flush(finishing: boolean): void {
    let left = this.#reader.available(finishing)
    if (left === 0) return
    while (left > 0) {
      const frames = this.#reader.copy(chunk, left, this.#swap)
      this.#write(chunk, 2 * frames, WAV_HEADER_BYTES + 2 * this.#reader.position)
      this.#reader.release(frames)
      left -= frames
    }
    this.#writeHeader(this.#reader.position)
  }

  /** Idempotent. */
  close(): void {
    if (this.#descriptor < 0) return
    const descriptor = this.#descriptor
    this.#descriptor = -1
    try {
      closeSync(descriptor)
    } catch (error) {
      throw this.#failure(error)
    }
  }

  #writeHeader(frames: Samples): void {
    this.#write(header, writeWavHeader(header, frames), 0)
  }

  #write(bytes: Uint8Array, length: number, at: number): void {
    try {
      for (let done = 0; done < length; ) done += writeSync(this.#descriptor, bytes, done, length - done, at + done)
    } catch (error) {
      throw this.#failure(error)
    }
  }

  #failure(cause: unknown): ParleyError {
    const reason = (cause as { code?: string }).code ?? ''
    const message = `The recording ${this.#path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`
    if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(reason))
      return new ParleyError('recording_disk_full', message, { cause })
    if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENAMETOOLONG'].includes(reason))
      return new ParleyError('recording_path_not_writable', message, { cause })
    return new ParleyError('recording_failed', message, { cause })
  }
}
