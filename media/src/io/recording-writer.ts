import { Worker } from 'node:worker_threads'
import { Emitter, type ParleyError, type Samples } from '@parley/kernel'
import { MediaError, type MediaErrorCode } from '../errors.ts'
import type { RecordingSegments } from '../session/media-session.ts'
import type { FinishedRecording, RecordingWriterCommand, RecordingWriterReport } from './recording-writer-messages.ts'
import { YOUNG_GENERATION_MB } from './thread-memory.ts'

export interface RecordingFailure {
  readonly id: number
  /** "recording_path_not_writable", "recording_disk_full", "recording_failed", "recording_writer_lost". */
  readonly error: ParleyError<MediaErrorCode>
}

interface Recording {
  readonly id: number
  readonly ring: SharedArrayBuffer
  readonly path: string
  readonly swapChannels: boolean
  readonly segments: RecordingSegments | undefined
  readonly result: PromiseWithResolvers<FinishedRecording>
  /** Position in the ring at which the recording begins; a recording that was split from another one has to learn it. */
  readonly from: PromiseWithResolvers<Samples>
  beginsAt: Samples | null
  finishing: boolean
  writersLost: number
}

/** After this many lost writer threads a recording fails, because it may be what ends them. */
const MAX_WRITERS_LOST = 2

/**
 * The process's writer thread: appends all recordings to their files every 500 ms. A thread that dies is replaced, and
 * its recordings continue where they were.
 */
export class RecordingWriter {
  readonly #recordings = new Map<number, Recording>()
  readonly #failed = new Map<number, ParleyError<MediaErrorCode>>()
  readonly #failures = new Emitter<RecordingFailure>()
  #worker: Worker | undefined
  #ready = false
  #nextId = 1
  #closing: Promise<void> | undefined

  /** Resolves when the thread runs; rejects with "recording_writer_lost" when it does not. Call it once. */
  start(): Promise<void> {
    const worker = this.#spawn()
    return new Promise((resolve, reject) => {
      worker.once('message', () => resolve())
      worker.once('exit', () => reject(writerLost('it did not start')))
    })
  }

  /** `listener` is called once for each recording that fails. Returns the function that removes the listener. */
  onFailure(listener: (failure: RecordingFailure) => void): () => void {
    return this.#failures.listen(listener)
  }

  /**
   * Creates the file at `path` (with its directories; an existing file is replaced) and returns the recording's id.
   * `ring` is from `allocateRecordingRing`. Errors are reported by `onFailure` and `finish`. Before `start` or after
   * `close` it throws `MediaError` "recording_writer_closed".
   */
  add(
    ring: SharedArrayBuffer,
    path: string,
    options: { readonly swapChannels?: boolean; readonly segments?: RecordingSegments } = {},
  ): number {
    if (this.#worker === undefined || this.#closing !== undefined)
      throw new MediaError('recording_writer_closed', 'The recording writer is not running: start it first.')
    const recording = this.#newRecording(ring, path, options.swapChannels ?? false, options.segments)
    recording.beginsAt = 0
    this.#postAdd(recording, false)
    return recording.id
  }

  /**
   * Ends a recording with the audio that both channels have, and writes what follows as another recording. `ended`: the first
   * recording, complete. `next`: id of the other one and the position of the session at which it begins; it rejects with that one's
   * failure, and then nothing more is recorded. Throws "unknown_recording".
   */
  split(
    id: number,
    path: string,
    segments: RecordingSegments | undefined,
  ): {
    readonly ended: Promise<FinishedRecording>
    readonly next: Promise<{ readonly id: number; readonly from: Samples }>
  } {
    const recording = this.#recordings.get(id)
    if (recording === undefined || recording.finishing)
      throw new MediaError('unknown_recording', `There is no recording ${id} to split.`)
    recording.finishing = true
    const next = this.#newRecording(recording.ring, path, recording.swapChannels, segments)
    this.#post({ type: 'split', id, next: { id: next.id, path, segments } })
    return { ended: recording.result.promise, next: next.from.promise.then(from => ({ id: next.id, from })) }
  }

  #newRecording(
    ring: SharedArrayBuffer,
    path: string,
    swapChannels: boolean,
    segments: RecordingSegments | undefined,
  ): Recording {
    const recording: Recording = {
      id: this.#nextId++,
      ring,
      path,
      swapChannels,
      segments,
      result: Promise.withResolvers(),
      from: Promise.withResolvers(),
      beginsAt: null,
      finishing: false,
      writersLost: 0,
    }
    // The callers of `finish` and `split` get the rejection; without one it must not end the process.
    recording.result.promise.catch(() => undefined)
    recording.from.promise.catch(() => undefined)
    this.#recordings.set(recording.id, recording)
    return recording
  }

  /**
   * Writes the rest (to `RecordingRing.end`, or all that is published) and completes the file. Rejects with the
   * recording's failure, or "unknown_recording".
   */
  finish(id: number): Promise<FinishedRecording> {
    const recording = this.#recordings.get(id)
    if (recording === undefined) {
      const failure = this.#failed.get(id)
      this.#failed.delete(id)
      return Promise.reject(failure ?? new MediaError('unknown_recording', `There is no recording ${id} to finish.`))
    }
    if (!recording.finishing) {
      recording.finishing = true
      this.#post({ type: 'finish', id })
    }
    return recording.result.promise
  }

  /** Completes all recordings and ends the thread. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()))
    this.#post({ type: 'close' })
    await exited
  }

  #spawn(): Worker {
    const worker = new Worker(new URL('./recording-writer-worker.ts', import.meta.url), {
      name: 'recording-writer',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#worker = worker
    this.#ready = false
    worker.on('message', (report: RecordingWriterReport) => this.#onReport(report))
    // The exit event that follows is handled; without a listener the error would end the process.
    worker.on('error', () => undefined)
    worker.on('exit', () => this.#onExit(worker))
    return worker
  }

  #onReport(report: RecordingWriterReport): void {
    if (report.type === 'ready') this.#ready = true
    if (report.type === 'begun') this.#begun(report.id, report.from)
    if (report.type === 'finished') this.#settle(report.id, report.recording)
    if (report.type === 'failed') this.#fail(report.id, new MediaError(report.code, report.message))
  }

  #onExit(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    // A thread that never got ready would fail again.
    const giveUp = this.#closing !== undefined || !this.#ready
    for (const recording of [...this.#recordings.values()])
      if (++recording.writersLost >= MAX_WRITERS_LOST || giveUp || recording.beginsAt === null)
        this.#fail(recording.id, writerLost(recording.path))
    if (giveUp) return
    this.#spawn()
    for (const recording of this.#recordings.values()) {
      this.#postAdd(recording, true)
      if (recording.finishing) this.#post({ type: 'finish', id: recording.id })
    }
  }

  #begun(id: number, from: Samples): void {
    const recording = this.#recordings.get(id)
    if (recording === undefined) return
    recording.beginsAt = from
    recording.from.resolve(from)
  }

  #settle(id: number, finished: FinishedRecording): void {
    this.#recordings.get(id)?.result.resolve(finished)
    this.#recordings.delete(id)
  }

  #fail(id: number, error: ParleyError<MediaErrorCode>): void {
    const recording = this.#recordings.get(id)
    if (recording === undefined) return
    this.#recordings.delete(id)
    // Stored for a later `finish`.
    if (!recording.finishing) this.#failed.set(id, error)
    recording.result.reject(error)
    recording.from.reject(error)
    this.#failures.emit({ id, error })
  }

  #postAdd({ id, ring, path, swapChannels, segments, beginsAt }: Recording, resume: boolean): void {
    this.#post({ type: 'add', id, ring, path, swapChannels, resume, segments, from: beginsAt ?? 0 })
  }

  #post(command: RecordingWriterCommand): void {
    this.#worker?.postMessage(command)
  }
}

function writerLost(what: string): ParleyError<MediaErrorCode> {
  return new MediaError('recording_writer_lost', `The recording writer thread ended unexpectedly: ${what}.`)
}
