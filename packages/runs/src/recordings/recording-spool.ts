import type { Scope } from '@parley/contract'
import { type Ms, ParleyError, type Time, type Timer, type UnixMs } from '@parley/kernel'
import {
  type Blobs,
  type Database,
  openRecording,
  type RecordingRow,
  type RunOwnership,
  readRecording,
} from '@parley/store'
import { diskSpace } from './io/disk-space.ts'
import { bytesOf, SpoolDirectory, spooledRuns } from './io/spool-directory.ts'
import { joinRecording } from './join-recording.ts'
import { type DiskSpace, type RecordingRefusal, SpoolCapacity } from './spool-capacity.ts'
import { SpooledRecording } from './spooled-recording.ts'

const LOOK_EVERY_MS: Ms = 1000
const CLOSE_WITHIN_MS: Ms = 5000
const STOP_WITHIN_MS: Ms = 5000

export interface RecordingSpoolOptions {
  /** Absolute path of a directory of this machine; processes may share it. Made when missing. */
  readonly directory: string
  readonly database: Database
  readonly blobs: Blobs
  readonly time: Time
  readonly wallClock: () => UnixMs
  /** Whether `close` makes the one file at once: where blobs are files. Otherwise the worker does. */
  readonly joinsAtClose: boolean
  /** Bytes of audio in the directory from which on no recording begins. Default 8 GiB. */
  readonly mostBytes?: number
  /** Of the disk that the directory is on; null: unknown. Default: what the system says. */
  readonly disk?: () => Promise<DiskSpace | null>
  readonly onProblem?: (what: string, error: unknown) => void
}

/** A run whose calls are to be recorded, in somebody's hands. */
export interface RecordedRun {
  readonly scope: Scope
  readonly owned: RunOwnership
}

/** For the media session's option `recording`. */
export interface SpoolPlace {
  readonly path: string
  readonly segments: 'only'
}

/**
 * Where an engine's calls are recorded: each in a directory of its own, in segments of 10 s that become blobs while the
 * call lives. Files go only once they are among the blobs. What processes that were killed left here is taken up, as soon
 * as their runs are in other hands. A lost process costs what its writer had not flushed (half a second); a lost machine
 * what was not among the blobs: the segment being written, and at most another second. What is not among the blobs has a
 * cap, and some of the disk is kept free: beyond these nothing new is recorded, and what lives goes on to its end.
 */
export class RecordingSpool {
  readonly #options: RecordingSpoolOptions
  readonly #recordings = new Map<string, SpooledRecording>()
  readonly #live = new Map<string, RecordedRun>()
  /** Bytes in directories that nobody knows whose they are, by name. */
  readonly #strays = new Map<string, number>()
  readonly #room: SpoolCapacity
  #hasCounted = false
  #finding: Promise<void> | null = null
  #timer: Timer | null = null
  #isStopped = false

  constructor(options: RecordingSpoolOptions) {
    this.#options = options
    const { directory, time, mostBytes, disk = () => diskSpace(directory) } = options
    this.#room = new SpoolCapacity({
      mostBytes,
      disk,
      time,
      used: () => this.bytes,
      onProblem: (what, error) => this.#problem(what, error),
    })
    this.#schedule()
  }

  /** Recordings of which something is not among the blobs, or that go on. */
  get size(): number {
    return this.#recordings.size
  }

  /** Bytes of audio in the directory, of whatever process, when each recording was last looked at: within 30 s. */
  get bytes(): number {
    let sum = 0
    for (const recording of this.#recordings.values()) sum += recording.bytes
    for (const bytes of this.#strays.values()) sum += bytes
    return sum
  }

  /** From so many bytes on no recording begins. */
  get mostBytes(): number {
    return this.#room.most
  }

  /** Recordings that did not begin for want of a place, since the start. */
  get refused(): Readonly<Record<RecordingRefusal, number>> {
    return this.#room.refused
  }

  /**
   * Prepares a recording; before its media session is opened. Throws `recording_unavailable` (there is no place or no room
   * for it: told every 10 s at most), `run_lost`, and what the database throws.
   */
  async open({ scope, owned }: RecordedRun): Promise<SpoolPlace> {
    const { database, directory: root, ...services } = this.#options
    const runId = owned.run_id
    if (this.#isStopped) throw new ParleyError('recording_unavailable', 'the spool is stopped')
    await this.#checkRoom()
    const directory = new SpoolDirectory(root, runId)
    const manifest = { scope, owned, closed: null }
    const onProblem = (what: string, error: unknown) => services.onProblem?.(what, error)
    this.#live.set(runId, { scope, owned })
    try {
      if ((await database.transaction(scope, tx => openRecording(tx, scope, owned, 'pending'))) === 'lost')
        throw new ParleyError('run_lost', `run ${runId} is in other hands`)
      await directory.make(manifest).catch(cause => {
        throw this.#room.refuse('unwritable', `there is no place to record to: ${String(cause)}`, cause)
      })
    } catch (error) {
      this.#live.delete(runId)
      throw error
    }
    const { blobs, time, wallClock } = services
    this.#recordings.set(
      runId,
      new SpooledRecording({ database, blobs, time, wallClock, directory, manifest, isLeft: false, onProblem }),
    )
    return { path: directory.audioPath, segments: 'only' }
  }

  /**
   * The recorder is done: after the media session is closed, before the run is finished. `segments`: how many files it
   * says there are; null where it failed. Answers the recording's state after `withinMs` (5 s) at the latest: `ready`,
   * `partial` or `not_required` where it was joined, `processing` where somebody joins it later, `recording` while
   * something is not among the blobs, which is tried on, `pending` where the run's end will tell whether there was
   * anything. Null: it was not opened here. Never rejects.
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

  /** Looks at once at all there is, rather than within a second; resolves when that is done. Never rejects. */
  async look(): Promise<void> {
    try {
      await this.#find()
    } catch (error) {
      this.#problem('the spool cannot be read', error)
    }
    await Promise.all(
      [...this.#recordings].map(async ([runId, recording]) => {
        await recording.advance()
        if (recording.isDone) this.#forget(runId)
      }),
    )
  }

  /** Looks no more; what is under way has 5 s. What is left is taken up by the next one. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    const { time } = this.#options
    const late = Promise.withResolvers<void>()
    const timer = time.at(time.now() + STOP_WITHIN_MS, late.resolve)
    await Promise.race([Promise.all([...this.#recordings.values()].map(recording => recording.rest())), late.promise])
    timer.cancel()
  }

  async #checkRoom(): Promise<void> {
    try {
      // What lies here from before counts.
      if (!this.#hasCounted) await this.#find()
    } catch (cause) {
      throw this.#room.refuse('unwritable', `the spool cannot be read: ${String(cause)}`, cause)
    }
    await this.#room.check()
  }

  async #close({ scope, owned }: RecordedRun, recording: SpooledRecording, segments: number | null) {
    const runId = owned.run_id
    const { database, blobs, time, joinsAtClose } = this.#options
    try {
      await recording.close(segments)
    } catch (error) {
      this.#problem(`the recording of ${runId} cannot be closed`, error)
    }
    // A look may be under way that saw it open.
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

  /** One at a time: the first may have much to count. */
  #find(): Promise<void> {
    this.#finding ??= this.#findLeft().finally(() => {
      this.#finding = null
    })
    return this.#finding
  }

  /** Takes up what other processes left, or are writing. */
  async #findLeft(): Promise<void> {
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
        isLeft: true,
      })
      await recording.measure()
      this.#strays.delete(runId)
      if (!isKnown(runId)) this.#recordings.set(runId, recording)
    }
    this.#hasCounted = true
  }

  /** Its manifest is not written yet, or cannot be read: what lies there stays, and takes its room. */
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
      // Not waited for: one that cannot be stored keeps no other from it.
      void this.look()
      this.#schedule()
    })
  }

  #problem(what: string, error: unknown): void {
    this.#options.onProblem?.(what, error)
  }
}
