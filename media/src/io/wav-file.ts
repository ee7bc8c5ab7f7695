import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ParleyError, SampleRateHz, Samples } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { WAV_HEADER_BYTES, writeWavHeader } from '../recorder/wav.ts'

/** Recordings are private to the account that runs the process. */
const FILE_MODE = 0o600

const header = new Uint8Array(WAV_HEADER_BYTES)

/** A stereo mu-law WAV being written; valid after every `setFrames`. Errors are `MediaError`s. */
export class WavFile {
  readonly path: string
  readonly #sampleRateHz: SampleRateHz
  #descriptor: number

  /** Creates missing directories. `resume`: keep the content of the file; otherwise it is a new file. */
  constructor(path: string, sampleRateHz: SampleRateHz, resume: boolean) {
    this.path = path
    this.#sampleRateHz = sampleRateHz
    try {
      mkdirSync(dirname(path), { recursive: true })
      const flags = constants.O_WRONLY | constants.O_CREAT | (resume ? 0 : constants.O_TRUNC)
      this.#descriptor = openSync(path, flags, FILE_MODE)
    } catch (error) {
      throw recordingFailure(path, error)
    }
  }

  /** Writes `frames` byte pairs from the start of `bytes` at frame `at`. */
  write(bytes: Uint8Array, frames: Samples, at: Samples): void {
    this.#write(bytes, 2 * frames, WAV_HEADER_BYTES + 2 * at)
  }

  /** Sets the number of frames in the header. */
  setFrames(frames: Samples): void {
    this.#write(header, writeWavHeader(header, frames, this.#sampleRateHz), 0)
  }

  /** Idempotent. */
  close(): void {
    if (this.#descriptor < 0) return
    const descriptor = this.#descriptor
    this.#descriptor = -1
    try {
      closeSync(descriptor)
    } catch (error) {
      throw recordingFailure(this.path, error)
    }
  }

  #write(bytes: Uint8Array, length: number, at: number): void {
    try {
      for (let done = 0; done < length; ) done += writeSync(this.#descriptor, bytes, done, length - done, at + done)
    } catch (error) {
      throw recordingFailure(this.path, error)
    }
  }
}

/** "recording_disk_full", "recording_path_not_writable" or "recording_failed", for an error of the file system. */
export function recordingFailure(path: string, cause: unknown): ParleyError {
  const reason = (cause as { code?: string }).code ?? ''
  const message = `The recording ${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(reason)) return new MediaError('recording_disk_full', message, { cause })
  if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENAMETOOLONG'].includes(reason))
    return new MediaError('recording_path_not_writable', message, { cause })
  return new MediaError('recording_failed', message, { cause })
}
