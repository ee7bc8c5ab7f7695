import type { Scope } from '@parley/contract'
import type { Ms, Time, Timer, UnixMs } from '@parley/kernel'
import {
  type Blobs,
  type Database,
  openRecording,
  type RecordingRow,
  type RunOwnership,
  readRecording,
} from '@parley/store'
import { RunsError } from '../errors.ts'
import { diskSpace } from './io/disk-space.ts'
import { bytesOf, SpoolDirectory, spooledRuns } from './io/spool-directory.ts'
import { joinRecording } from './join-recording.ts'
import { type DiskSpace, type RecordingRefusal, SpoolCapacity } from './spool-capacity.ts'
import { SpooledRecording } from './spooled-recording.ts'

const LOOK_EVERY_MS: Ms = 1000
const CLOSE_WITHIN_MS: Ms = 5000
const STOP_WITHIN_MS: Ms = 5000

export interface RecordingSpoolOptions {
  /** Absolute path of a directory on this machine; processes may share it. Created when missing. */
  readonly directory: string
  readonly database: Database
  readonly blobs: Blobs
  readonly time: Time
  readonly wallClock: () => UnixMs
  /** Whether `close` joins the segments at once, as is done where blobs are local files. Otherwise the worker joins them. */
  readonly joinsAtClose: boolean
  /** Bytes of audio in the directory at which new recordings are refused. Default 8 GiB. */
  readonly maxBytes?: number
  /** Space of the directory's disk; null: unknown. Default: asks the operating system. */
  readonly disk?: () => Promise<DiskSpace | null>
  readonly onProblem?: (what: string, error: unknown) => void
}

/** A run whose call is recorded, with its owner. */
export interface RecordedRun {
  readonly scope: Scope
  readonly owned: RunOwnership
}

/** For the media session's option `recording`. */
interface SpoolPlace {
  readonly path: string
  readonly segments: 'only'
}

/**
 * Records an engine's calls, each in its own directory, in segments of 10 s that are uploaded as blobs during the call. A
 * file is removed only after its upload. The segments of killed processes are uploaded once their runs have a new owner. A
 * killed process loses at most what its writer had not flushed (half a second); a lost machine loses what was not uploaded:
 * the current segment and at most one more second. Audio waiting for upload is capped and some disk space stays free;
 * beyond these limits no new recording starts, and running ones continue.
 */
export class RecordingSpool {
  readonly #options: RecordingSpoolOptions
  readonly #recordings = new Map<string, SpooledRecording>()
  readonly #live = new Map<string, RecordedRun>()
  /** Bytes in directories without a readable manifest, by name. */
  readonly #strays = new Map<string, number>()
  readonly #capacity: SpoolCapacity
  #hasCounted = false
  #finding: Promise<void> | null = null
  #timer: Timer | null = null
  #isStopped = false

  constructor(options: RecordingSpoolOptions) {
    this.#options = options
    const { directory, time, maxBytes, disk = () => diskSpace(directory) } = options
    this.#capacity = new SpoolCapacity({
      maxBytes,
      disk,
      time,
      used: () => this.bytes,
      onProblem: (what, error) => this.#problem(what, error),
    })
    this.#schedule()
  }

  /** Recordings that are running or not fully uploaded. */
  get size(): number {
    return this.#recordings.size
  }

  /** Bytes of audio in the directory, of all processes; measured within the last 30 s. */
  get bytes(): number {
    let sum = 0
    for (const recording of this.#recordings.values()) sum += recording.bytes
    for (const bytes of this.#strays.values()) sum += bytes
    return sum
  }

  /** Bytes at which new recordings are refused. */
  get maxBytes(): number {
    return this.#capacity.maxBytes
  }

  /** Recordings refused for lack of space since the start. */
  get refused(): Readonly<Record<RecordingRefusal, number>> {
    return this.#capacity.refused
  }

  /**
   * Prepares a recording; call it before the media session is opened. Throws `recording_unavailable` (no writable directory
   * or no space; logged every 10 s at most), `run_lost`, and errors of the database.
   */
  async open({ scope, owned }: RecordedRun): Promise<SpoolPlace> {
    const { database, directory: root, ...services } = this.#options
    const runId = owned.run_id
    if (this.#isStopped)
      throw new RunsError('recording_unavailable', 'this process is stopping and begins no recording', {
        retryable: false,
      })
    await this.#checkCapacity()
    const directory = new SpoolDirectory(root, runId)
    const manifest = { scope, owned, closed: null }
    const onProblem = (what: string, error: unknown) => services.onProblem?.(what, error)
    this.#live.set(runId, { scope, owned })
    try {
      if ((await database.transaction(scope, tx => openRecording(tx, scope, owned, 'pending'), 'one-trip')) === 'lost')
        throw new RunsError('run_lost', `another process owns the run ${runId}`)
      await directory.make(manifest).catch(cause => {
        throw this.#capacity.refuse('unwritable', `there is no place to record to: ${String(cause)}`, cause)
      })
    } catch (error) {
      this.#live.delete(runId)
      throw error
    }
    const { blobs, time, wallClock } = services
    this.#recordings.set(
      runId,
      new SpooledRecording({ database, blobs, time, wallClock, directory, manifest, isForeign: false, onProblem }),
    )
    return { path: directory.audioPath, segments: 'only' }
  }

  /**
   * Closes a recording, after its media session and before the end of its run. `segments`: the number of files that the
   * recorder reports; null if it failed. Resolves within `withinMs` (5 s) to the recording's state: `ready`, `partial` or
   * `not_required` if it was joined, `processing` if it is joined later, `recording` while uploads are still retried,
   * `pending` if only the end of the run shows whether there was audio. Null: it was not opened here. Never rejects.
   */
  async close(
    runId: string,
    segments: number | null,
    withinMs = CLOSE_WITHIN_MS,
  ): Promise<RecordingRow['state'] | null> {
    const recording = this.#recordings.get(runId)
    const live = this.#live.get(runId)
    if (recording === undefined || live === undefined) return null
    const { time } = this.#options
    const late = Promise.withResolvers<RecordingRow['state']>()
    const timer = time.at(time.now() + withinMs, () => late.resolve(recording.isDone ? 'processing' : 'recording'))
    try {
      return await Promise.race([this.#close(live, recording, segments), late.promise])
    } finally {
      timer.cancel()
    }
  }

  /** Processes all recordings now instead of within a second; resolves when that is done. Never rejects. */
  poll(): Promise<void> {
    return this.#round(recording => recording.advance())
  }

  async #round(advance: (recording: SpooledRecording) => Promise<void>): Promise<void> {
    try {
      await this.#scan()
    } catch (error) {
      this.#problem('the spool cannot be read', error)
    }
    await Promise.all(
      [...this.#recordings].map(async ([runId, recording]) => {
        await advance(recording)
        if (recording.isDone) this.#forget(runId)
      }),
    )
  }

  /** Stops; current uploads have 5 s. The next process uploads the rest. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    const { time } = this.#options
    const late = Promise.withResolvers<void>()
    const timer = time.at(time.now() + STOP_WITHIN_MS, late.resolve)
    await Promise.race([Promise.all([...this.#recordings.values()].map(recording => recording.rest())), late.promise])
    timer.cancel()
  }

  async #checkCapacity(): Promise<void> {
    try {
      // Audio of earlier processes counts towards the limit.
      if (!this.#hasCounted) await this.#scan()
    } catch (cause) {
      throw this.#capacity.refuse('unwritable', `the spool cannot be read: ${String(cause)}`, cause)
    }
    await this.#capacity.check()
  }

  async #close({ scope, owned }: RecordedRun, recording: SpooledRecording, segments: number | null) {
    const runId = owned.run_id
    const { database, blobs, time, joinsAtClose } = this.#options
    try {
      await recording.close(segments)
    } catch (error) {
      this.#problem(`the recording of ${runId} cannot be closed`, error)
    }
    // A round may be in progress that saw the recording open.
    for (let i = 0; i < 2 && !recording.isDone; i++) await recording.advance()
    if (!recording.isDone) return 'recording'
    this.#forget(runId)
    if (!joinsAtClose) return 'processing'
    try {
      await joinRecording({ database, blobs, time }, scope, runId)
      return (await readRecording(database.within(scope), scope, runId))?.state ?? null
    } catch (error) {
      this.#problem(`the recording of ${runId} cannot be joined yet`, error)
      return 'processing'
    }
  }

  /** One round at a time: the first may have many files to count. */
  #scan(): Promise<void> {
    this.#finding ??= this.#addForeign().finally(() => {
      this.#finding = null
    })
    return this.#finding
  }

  /** Adds recordings that other processes left or are writing. */
  async #addForeign(): Promise<void> {
    const { directory: root, database, blobs, time, wallClock } = this.#options
    const onProblem = (what: string, error: unknown) => this.#problem(what, error)
    const isKnown = (runId: string) => this.#live.has(runId) || this.#recordings.has(runId)
    const names = await spooledRuns(root)
    const left = new Set(names)
    for (const name of this.#strays.keys()) if (!left.has(name)) this.#strays.delete(name)
    for (const runId of names) {
      if (isKnown(runId)) continue
      const directory = new SpoolDirectory(root, runId)
      const manifest = await directory.manifest()
      if (manifest?.owned.run_id !== runId) {
        await this.#countStray(runId, directory)
        continue
      }
      const recording = new SpooledRecording({
        database,
        blobs,
        time,
        wallClock,
        directory,
        manifest,
        onProblem,
        isForeign: true,
      })
      await recording.measure()
      this.#strays.delete(runId)
      if (!isKnown(runId)) this.#recordings.set(runId, recording)
    }
    this.#hasCounted = true
  }

  /** A directory whose manifest is missing or unreadable: its files stay and count towards the limit. */
  async #countStray(name: string, directory: SpoolDirectory): Promise<void> {
    if (this.#strays.has(name)) return
    const bytes = await directory.segments().then(bytesOf, () => 0)
    this.#strays.set(name, bytes)
  }

  #forget(runId: string): void {
    this.#recordings.delete(runId)
    this.#live.delete(runId)
  }

  #schedule(): void {
    if (this.#isStopped) return
    const { time } = this.#options
    this.#timer = time.at(time.now() + LOOK_EVERY_MS, () => {
      // Not awaited, so that a recording that cannot be uploaded does not delay others.
      void this.#round(recording => recording.advanceIfDue())
      this.#schedule()
    })
  }

  #problem(what: string, error: unknown): void {
    this.#options.onProblem?.(what, error)
  }
}
