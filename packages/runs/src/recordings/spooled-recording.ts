import type { Ms, Time, UnixMs } from '@parley/kernel'
import { framesIn, readWavLayout, wavHeader } from '@parley/media'
import {
  addSegment,
  awaitRecording,
  type Blobs,
  closeRecording,
  type Database,
  isOwnershipCurrent,
  moveRecording,
  segmentKey,
} from '@parley/store'
import { RunsError } from '../errors.ts'
import { RepeatedFailureLog } from '../repeated-failure-log.ts'
import {
  bytesOf,
  type SpoolDirectory,
  type SpooledSegment,
  type SpooledSegments,
  type SpoolManifest,
} from './io/spool-directory.ts'

const FIRST_PAUSE_MS: Ms = 1000
const LONGEST_PAUSE_MS: Ms = 30_000
/** After each attempt, joins wait this long for segments that are not uploaded. Longer than the longest pause. */
const AWAITED_MS: Ms = 40_000
/** A writer updates its file every 500 ms; one silent for this long is dead. */
const DEAD_AFTER_MS: Ms = 3000
const LEFT_PAUSE_MS: Ms = 2000
/** How often the size is measured, also while uploads fail; there may be many files. */
const MEASURE_EVERY_MS: Ms = 30_000
/** Bytes that contain the header of a segment. */
const HEADER_BYTES = 256
/** A segment is complete after 10 s of audio; it is looked for from a second earlier on. */
const LOOK_AFTER_MS: Ms = 9000

interface SpooledRecordingOptions {
  readonly database: Database
  readonly blobs: Blobs
  readonly time: Time
  /** On the clock of the file system. */
  readonly wallClock: () => UnixMs
  readonly directory: SpoolDirectory
  readonly manifest: SpoolManifest
  /** Found, not opened, by this process: its owner may still write. */
  readonly isForeign: boolean
  readonly onProblem: (what: string, error: unknown) => void
}

/** Uploads the segment files of one recording as blobs. */
export class SpooledRecording {
  readonly #options: SpooledRecordingOptions
  readonly #stores: RepeatedFailureLog
  /** Stamps of uploaded files, by segment number. */
  readonly #put = new Map<number, string>()
  #closed: SpoolManifest['closed']
  #hasBegun = false
  #isDone = false
  #bytes = 0
  #measuredAt: Ms
  #work: Promise<void> | null = null
  #pauseMs: Ms = FIRST_PAUSE_MS
  #nextAt: Ms = Number.NEGATIVE_INFINITY
  /** Before this no segment can be complete. */
  #lookAt: Ms = Number.NEGATIVE_INFINITY

  constructor(options: SpooledRecordingOptions) {
    this.#options = options
    const { time, manifest, onProblem } = options
    this.#stores = new RepeatedFailureLog({
      name: `storing the recording of ${manifest.owned.run_id}`,
      time,
      onProblem,
    })
    this.#closed = options.manifest.closed
    this.#measuredAt = options.time.now()
  }

  /** Everything is uploaded and noted in the database, and the files are removed. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Bytes of audio in its files, measured within the last 30 s. */
  get bytes(): number {
    return this.#bytes
  }

  /** Measures the files. Never rejects. */
  async measure(): Promise<void> {
    await this.#segments().catch(() => null)
  }

  /** Marks the recording as closed, in a file, so that it is known after a kill. Rejects with errors of the file system. */
  async close(segments: number | null): Promise<void> {
    const { directory, manifest } = this.#options
    this.#closed = { segments }
    this.#nextAt = Number.NEGATIVE_INFINITY
    this.#lookAt = Number.NEGATIVE_INFINITY
    await directory.write({ ...manifest, closed: this.#closed })
  }

  /** As `advance`, once a segment can be complete: a recording of this process that has just begun one is not looked at. Never rejects. */
  async advanceIfDue(): Promise<void> {
    if (this.#work !== null || this.#options.time.now() >= this.#lookAt) await this.advance()
  }

  /** Uploads what can be uploaded now. Failures are retried with growing pauses. Never rejects. */
  async advance(): Promise<void> {
    const { time } = this.#options
    if (time.now() >= this.#measuredAt + MEASURE_EVERY_MS) await this.measure()
    if (this.#work === null && time.now() < this.#nextAt) return
    this.#work ??= this.#try().finally(() => {
      this.#work = null
    })
    await this.#work
  }

  /** Resolves when no upload of the recording is in progress. */
  async rest(): Promise<void> {
    await this.#work
  }

  async #try(): Promise<void> {
    const { time } = this.#options
    try {
      this.#isDone = await this.#advance()
      this.#stores.worked()
      this.#pauseMs = FIRST_PAUSE_MS
    } catch (error) {
      this.#stores.failed(error)
      this.#lookAt = Number.NEGATIVE_INFINITY
      this.#nextAt = time.now() + this.#pauseMs
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS)
      if (this.#closed !== null) await this.#await().catch(() => null)
    }
  }

  async #advance(): Promise<boolean> {
    if (this.#options.isForeign) return this.#recover()
    const isOver = this.#closed !== null
    const hasAll = await this.#putSegments(isOver)
    return isOver && hasAll ? this.#finish() : false
  }

  /** Recovers the recording of another process, unless that process may be alive. */
  async #recover(): Promise<boolean> {
    const { directory, time } = this.#options
    const manifest = await directory.manifest()
    // Its own process has finished it.
    if (manifest === null) return true
    this.#closed = manifest.closed
    if (this.#closed === null && !(await this.#isAbandoned())) {
      this.#nextAt = time.now() + LEFT_PAUSE_MS
      return false
    }
    const state = await this.#await()
    if (state === null || state === 'expired') return this.#drop(state)
    return (await this.#putSegments(true)) ? this.#finish() : false
  }

  async #finish(): Promise<boolean> {
    const { database, directory, manifest } = this.#options
    const { scope, owned } = manifest
    const segments = this.#closed?.segments ?? null
    // Neither file nor report: only the end of the run shows whether there was something to record.
    if (segments !== null || this.#put.size > 0)
      await database.transaction(scope, tx => closeRecording(tx, scope, owned.run_id, segments), 'one-trip')
    const { complete, unfinished } = await this.#segments()
    for (const segment of [...complete, ...unfinished]) if (!(await this.#removePut(segment))) return false
    await directory.removeAll()
    return true
  }

  /** False: the file changed after its upload, so it stays. */
  async #removePut(segment: SpooledSegment): Promise<boolean> {
    if (this.#put.get(segment.number) !== segment.stamp) return false
    await this.#options.directory.remove(segment)
    return true
  }

  /** Makes joins wait for this recording. */
  async #await() {
    const { database, manifest } = this.#options
    const { scope, owned } = manifest
    return database.transaction(scope, tx => awaitRecording(tx, scope, owned.run_id, AWAITED_MS), 'one-trip')
  }

  /** The run has no longer the owner that recorded it, and no file was written for a while. */
  async #isAbandoned(): Promise<boolean> {
    const { database, manifest, wallClock } = this.#options
    const { scope, owned } = manifest
    if (await isOwnershipCurrent(database.within(scope), scope, owned)) return false
    const { unfinished } = await this.#segments()
    return unfinished.every(({ writtenAt }) => wallClock() - writtenAt > DEAD_AFTER_MS)
  }

  /** The database has no such recording, or it is past its retention: no client will request it. */
  async #drop(state: 'expired' | null): Promise<boolean> {
    const { directory, manifest } = this.#options
    const { complete, unfinished } = await this.#segments()
    if (state === null && complete.length + unfinished.length > 0)
      throw new RunsError('unknown_recording', `the database has no recording of ${manifest.owned.run_id}`)
    await directory.removeAll()
    return true
  }

  /** False: files were renamed meanwhile and must be read again. */
  async #putSegments(isOver: boolean): Promise<boolean> {
    const { complete, unfinished } = await this.#segments()
    const last = unfinished.at(-1)
    // Most rounds find no change and open no file.
    const isNews = !this.#hasBegun || complete.length > 0
    const audioMs = last !== undefined && isNews ? await this.#audioMsOf(last) : 0
    const hasAudio = last !== undefined && audioMs > 0
    if (complete.length > 0 || hasAudio) await this.#begin()
    let hasAll = true
    for (const segment of [...complete, ...(isOver ? unfinished : [])])
      hasAll = (await this.#putSegment(segment)) && hasAll
    // A writer thread that takes over from one that died may go on with a segment that was complete, until it has said
    // that the next one has audio.
    const begun = hasAudio ? last.number : (complete.at(-1)?.number ?? 0)
    for (const segment of isOver ? [] : complete) if (segment.number < begun) await this.#removePut(segment)
    const canWait = hasAudio && hasAll && this.#hasBegun && this.#closed === null
    this.#lookAt = canWait ? this.#options.time.now() + LOOK_AFTER_MS - audioMs : Number.NEGATIVE_INFINITY
    return hasAll
  }

  async #segments(): Promise<SpooledSegments> {
    const { directory, time } = this.#options
    const found = await directory.segments()
    this.#bytes = bytesOf(found)
    this.#measuredAt = time.now()
    return found
  }

  async #putSegment(segment: SpooledSegment): Promise<boolean> {
    const { directory, blobs, manifest } = this.#options
    const { scope, owned } = manifest
    if (this.#put.get(segment.number) === segment.stamp) return true
    const bytes = await directory.read(segment)
    if (bytes === null) return false
    const layout = readWavLayout(bytes)
    const frames = layout === null ? 0 : framesIn(layout, bytes.length)
    // The writer was killed before it wrote a header: the file has no audio.
    if (layout !== null) {
      const key = segmentKey(scope, owned.run_id, segment.number)
      const whole = bytes.subarray(0, layout.header.length + frames * layout.frameBytes)
      // The header may lack the last half second.
      whole.set(wavHeader(layout, frames))
      await blobs.put(key, whole)
      await this.#note({ index: segment.number, blob: key, samples: frames, bytes: whole.length })
    }
    this.#put.set(segment.number, segment.stamp)
    return true
  }

  async #audioMsOf(segment: SpooledSegment): Promise<Ms> {
    const head = await this.#options.directory.read(segment, HEADER_BYTES)
    const layout = head === null ? null : readWavLayout(head)
    // Only the audio that the header counts: the writer updates the header after it has finished the previous segment.
    if (layout === null) return 0
    const bytes = new DataView(layout.header.buffer).getUint32(layout.header.length - 4, true)
    return (1000 * bytes) / (layout.frameBytes * layout.framesPerSecond)
  }

  async #begin(): Promise<void> {
    if (this.#hasBegun) return
    const { database, manifest } = this.#options
    const { scope, owned } = manifest
    // One attempt suffices: the recording does not wait for the database.
    this.#hasBegun = true
    await database
      .transaction(scope, tx => moveRecording(tx, scope, owned.run_id, 'recording'), 'one-trip')
      .catch(() => {
        this.#hasBegun = false
      })
  }

  /** The segments in the database are informational; joins read the blobs. */
  async #note(segment: Parameters<typeof addSegment>[3]): Promise<void> {
    const { database, manifest } = this.#options
    const { scope, owned } = manifest
    await database.transaction(scope, tx => addSegment(tx, scope, owned, segment), 'one-trip').catch(() => 'lost')
  }
}
