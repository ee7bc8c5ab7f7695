import { type Ms, ParleyError, type Time, type UnixMs } from '@parley/kernel'
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
/** For so long from each try nobody takes what is not among the blobs for lost. Outlasts the longest pause. */
const AWAITED_MS: Ms = 40_000
/** A writer says every 500 ms what it has: who did not for so long is dead. */
const DEAD_AFTER_MS: Ms = 3000
const LEFT_PAUSE_MS: Ms = 2000
/** So often it is looked how much there is, also while nothing can be done: there may be many files. */
const MEASURE_EVERY_MS: Ms = 30_000
/** Enough for the header of a segment. */
const HEADER_BYTES = 256

export interface SpooledRecordingOptions {
  readonly database: Database
  readonly blobs: Blobs
  readonly time: Time
  /** On the clock of the file system. */
  readonly wallClock: () => UnixMs
  readonly directory: SpoolDirectory
  readonly manifest: SpoolManifest
  /** Left by another process: its owner may still write. */
  readonly isLeft: boolean
  readonly onProblem: (what: string, error: unknown) => void
}

/** One run's recording on its way from files to blobs. */
export class SpooledRecording {
  readonly #options: SpooledRecordingOptions
  readonly #stores: RepeatedFailureLog
  /** Stamps of files that are among the blobs, by number. */
  readonly #put = new Map<number, string>()
  #closed: SpoolManifest['closed']
  #hasBegun = false
  #isDone = false
  #bytes = 0
  #measuredAt: Ms
  #work: Promise<void> | null = null
  #pauseMs: Ms = FIRST_PAUSE_MS
  #nextAt: Ms = Number.NEGATIVE_INFINITY

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

  /** All of it is among the blobs, the database knows, and nothing is left of the files. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Of audio in its files, as they were half a minute ago at the longest. */
  get bytes(): number {
    return this.#bytes
  }

  /** Looks how much there is. Never rejects. */
  async measure(): Promise<void> {
    await this.#segments().catch(() => null)
  }

  /** Its recorder is done; kept beside the audio, so that it is known after a kill. Throws what the file system throws. */
  async close(segments: number | null): Promise<void> {
    const { directory, manifest } = this.#options
    this.#closed = { segments }
    this.#nextAt = Number.NEGATIVE_INFINITY
    await directory.write({ ...manifest, closed: this.#closed })
  }

  /** Does what can be done now. What fails is tried again, the later the more often it failed. Never rejects. */
  async advance(): Promise<void> {
    const { time } = this.#options
    if (time.now() >= this.#measuredAt + MEASURE_EVERY_MS) await this.measure()
    if (this.#work === null && time.now() < this.#nextAt) return
    this.#work ??= this.#try().finally(() => {
      this.#work = null
    })
    await this.#work
  }

  /** Resolves when nothing of it is under way. */
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
      this.#nextAt = time.now() + this.#pauseMs
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS)
      if (this.#closed !== null) await this.#await().catch(() => null)
    }
  }

  async #advance(): Promise<boolean> {
    if (this.#options.isLeft) return this.#takeUp()
    const isOver = this.#closed !== null
    const hasAll = await this.#putSegments(isOver)
    return isOver && hasAll ? this.#finish() : false
  }

  /** What another process left: nothing is done as long as that one may be alive. */
  async #takeUp(): Promise<boolean> {
    const { directory, time } = this.#options
    const manifest = await directory.manifest()
    // Its own process is through with it.
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
    // No file and no word of it: whether there was something to record is known when the run has ended.
    if (segments !== null || this.#put.size > 0)
      await database.transaction(scope, tx => closeRecording(tx, scope, owned.run_id, segments))
    const { complete, unfinished } = await this.#segments()
    for (const segment of [...complete, ...unfinished]) if (!(await this.#removePut(segment))) return false
    await directory.removeAll()
    return true
  }

  /** False: what is in the file is not among the blobs as it is now, and it stays. */
  async #removePut(segment: SpooledSegment): Promise<boolean> {
    if (this.#put.get(segment.number) !== segment.stamp) return false
    await this.#options.directory.remove(segment)
    return true
  }

  /** Whoever joins recordings waits for this one. */
  async #await() {
    const { database, manifest } = this.#options
    const { scope, owned } = manifest
    return database.transaction(scope, tx => awaitRecording(tx, scope, owned.run_id, AWAITED_MS))
  }

  /** Nobody has the run any more as its recorder had it, and no file was written for a while. */
  async #isAbandoned(): Promise<boolean> {
    const { database, manifest, wallClock } = this.#options
    const { scope, owned } = manifest
    if (await isOwnershipCurrent(database.within(scope), scope, owned)) return false
    const { unfinished } = await this.#segments()
    return unfinished.every(({ writtenAt }) => wallClock() - writtenAt > DEAD_AFTER_MS)
  }

  /** The database has no such recording, or it is past its time: nobody will ask for it. */
  async #drop(state: 'expired' | null): Promise<boolean> {
    const { directory, manifest } = this.#options
    const { complete, unfinished } = await this.#segments()
    if (state === null && complete.length + unfinished.length > 0)
      throw new ParleyError('unknown_recording', `the database has no recording of ${manifest.owned.run_id}`)
    await directory.removeAll()
    return true
  }

  /** False: files were renamed meanwhile, and are to be looked at again. */
  async #putSegments(isOver: boolean): Promise<boolean> {
    const { complete, unfinished } = await this.#segments()
    const last = unfinished.at(-1)
    // Most looks find nothing new, and open no file.
    const isNews = !this.#hasBegun || complete.length > 0
    const hasAudio = last !== undefined && isNews && (await this.#framesOf(last)) > 0
    if (complete.length > 0 || hasAudio) await this.#begin()
    let hasAll = true
    for (const segment of [...complete, ...(isOver ? unfinished : [])])
      hasAll = (await this.#putSegment(segment)) && hasAll
    // A writer thread that takes over from one that died may go on with a segment that was complete, until it has said
    // that the next one has audio.
    const begun = hasAudio ? last.number : (complete.at(-1)?.number ?? 0)
    for (const segment of isOver ? [] : complete) if (segment.number < begun) await this.#removePut(segment)
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
    // Killed before it could say what it is: there is no audio in it.
    if (layout !== null) {
      const key = segmentKey(scope, owned.run_id, segment.number)
      const whole = bytes.subarray(0, layout.header.length + frames * layout.frameBytes)
      // Its header may be half a second behind.
      whole.set(wavHeader(layout, frames))
      await blobs.put(key, whole)
      await this.#note({ index: segment.number, blob: key, samples: frames, bytes: whole.length })
    }
    this.#put.set(segment.number, segment.stamp)
    return true
  }

  async #framesOf(segment: SpooledSegment): Promise<number> {
    const head = await this.#options.directory.read(segment, HEADER_BYTES)
    const layout = head === null ? null : readWavLayout(head)
    // What the header says, not what lies behind it: its writer says so when it has let go of what came before.
    return layout === null ? 0 : new DataView(layout.header.buffer).getUint32(layout.header.length - 4, true)
  }

  async #begin(): Promise<void> {
    if (this.#hasBegun) return
    const { database, manifest } = this.#options
    const { scope, owned } = manifest
    // Once is enough, and a recording does not wait for the database.
    this.#hasBegun = true
    await database
      .transaction(scope, tx => moveRecording(tx, scope, owned.run_id, 'recording'))
      .catch(() => {
        this.#hasBegun = false
      })
  }

  /** What the database says of segments is for people: the blobs are what counts. */
  async #note(segment: Parameters<typeof addSegment>[3]): Promise<void> {
    const { database, manifest } = this.#options
    const { scope, owned } = manifest
    await database.transaction(scope, tx => addSegment(tx, scope, owned, segment)).catch(() => 'lost')
  }
}
