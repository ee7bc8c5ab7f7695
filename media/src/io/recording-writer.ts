import type { Ms, ParleyError } from '@parley/kernel'

export interface RecordingFailure {
  readonly id: number
  /** "recording_path_not_writable", "recording_disk_full", "recording_failed", "recording_writer_lost". */
  readonly error: ParleyError
}

/** The process's one writer thread: appends all recordings to their files every 500 ms. */
export declare class RecordingWriter {
  /** Resolves when the thread runs. */
  start(): Promise<void>
  onFailure(listener: (failure: RecordingFailure) => void): () => void
  /** Begins the file at `path` (directories are made, an existing file is replaced); errors come to `onFailure` and `finish`. */
  add(ring: SharedArrayBuffer, path: string, options?: { readonly swapChannels?: boolean }): number
  /** Writes what is left (to `RecordingRing.end`, or what is published) and completes the file. Rejects with the recording's failure. */
  finish(id: number): Promise<{ readonly durationMs: Ms }>
  /** Completes all recordings and ends the thread. Idempotent. */
  close(): Promise<void>
}
