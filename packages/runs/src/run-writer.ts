import type { Scope } from '@parley/contract'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { Database, Finish, RunOwnership } from '@parley/store'
import type { RunJournal } from './journal/run-journal.ts'
import { isTransient } from './retry-until-answered.ts'
import { RunBacklog } from './run-backlog.ts'
import { type RunBatch, type RunEnd, type RunEntry, writeBatch, writeEnd } from './run-entry.ts'

/** Nothing waits longer for company before it is written. */
const GATHER_MS: Ms = 20
const FIRST_PAUSE_MS: Ms = 250
const LONGEST_PAUSE_MS: Ms = 2000
/** A database that takes longer may be away: from then on what waits goes to disk. */
const LATE_MS: Ms = 1000
/** How old what a killed process loses may be, while the database is away. */
const SPILL_EVERY_MS: Ms = 500
/** Of one batch, where the database is there and does not take it. */
const MOST_REFUSALS = 5

export interface RunWriterOptions {
  readonly database: Database
  readonly scope: Scope
  readonly owned: RunOwnership
  /** Of the timeline: the next item is the one after it. */
  readonly lastSeq: number
  /** Where what waits goes while the database is away; null: it stays in memory. */
  readonly journal: RunJournal | null
  readonly time: Time
  readonly wallClock: () => number
  /** Something of the run is in the database that was not there before. */
  readonly onWritten: () => void
  /** A webhook of the run is in the database that was not there before. */
  readonly onAnnounced: () => void
  /** Asked when the store says that the run is not ours: whether it is, by renewing its lease. */
  readonly isStillOwned: () => Promise<boolean>
  readonly onLost: () => void
  /** The database is there and does not take something: a fault of ours. */
  readonly onTrouble: (error: unknown) => void
  /** The disk takes nothing (the error), or takes it again (null). */
  readonly onJournal: (trouble: unknown) => void
}

/**
 * Writes what happens in a run, in order, in batches, each batch one transaction under the run's fence. While the
 * database is away it waits and tries again, and what waits goes to disk: a call goes on without it.
 */
export class RunWriter {
  readonly #options: RunWriterOptions
  readonly #backlog: RunBacklog
  #timer: Timer | null = null
  #pauseMs: Ms = FIRST_PAUSE_MS
  #refusals = 0
  #isLost = false
  /** The write that is under way, with all that waits. */
  #work: Promise<void> | null = null
  #spillTimer: Timer | null = null

  constructor(options: RunWriterOptions) {
    this.#options = options
    const { lastSeq, journal, onJournal } = options
    this.#backlog = new RunBacklog({
      ...{ lastSeq, journal },
      now: () => this.#now(),
      onUnkept: onJournal,
      onKept: () => onJournal(null),
    })
  }

  add(entry: RunEntry): void {
    if (this.#isLost) return
    this.#backlog.add(entry)
    this.#schedule(GATHER_MS)
  }

  /** As `add`, for what cannot wait for the database. Resolves when it is on disk, or the disk did not take it. Never rejects. */
  async persist(entry: RunEntry): Promise<void> {
    this.add(entry)
    if (!this.#isLost) await this.#backlog.spill()
  }

  /** The run is somebody else's: nothing is written any more. */
  abandon(): void {
    this.#isLost = true
    this.#timer?.cancel()
    this.#timer = null
    this.#rest()
    void this.#backlog.close()
  }

  /** Writes what waits and the end, all or nothing; tries until it is done or lost. */
  async finish(end: RunEnd): Promise<Finish> {
    const { database, scope, owned } = this.#options
    this.#backlog.end(end)
    while (!this.#isLost) {
      await this.#writeAll()
      if (this.#isLost) break
      try {
        this.#watch()
        const done = await writeEnd(end, { database, scope, owned })
        if (done !== 'lost') {
          this.#rest()
          await this.#backlog.close()
          return done
        }
        if (!(await this.#options.isStillOwned())) break
      } catch (error) {
        await this.#noteTrouble(error)
      }
      await this.#pause()
    }
    this.#rest()
    await this.#backlog.close()
    return 'lost'
  }

  #schedule(inMs: Ms): void {
    if (this.#timer !== null || this.#work !== null || this.#isLost) return
    const { time } = this.#options
    this.#timer = time.at(time.now() + inMs, () => {
      this.#timer = null
      void this.#writeAll()
    })
  }

  /** Resolves when nothing waits, or the run is lost; never rejects. */
  #writeAll(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = null
    this.#work ??= this.#loop().finally(() => {
      this.#work = null
      this.#rest()
      if (!this.#backlog.isEmpty) this.#schedule(GATHER_MS)
    })
    return this.#work
  }

  async #loop(): Promise<void> {
    for (;;) {
      const batch = await this.#backlog.take()
      if (batch === null || this.#isLost) return
      this.#watch()
      try {
        if (await this.#write(batch)) continue
        if (!(await this.#options.isStillOwned())) return this.#lose()
      } catch (error) {
        await this.#noteTrouble(error)
      }
      await this.#pause()
    }
  }

  /** False: the store says that the run is not ours. Throws while the database is away. */
  async #write(batch: RunBatch): Promise<boolean> {
    const { database, scope, owned, onWritten, onAnnounced } = this.#options
    const written = await writeBatch(batch, {
      ...{ database, scope, owned, now: this.#now() },
      lastSeq: this.#backlog.lastSeq,
    })
    if (written === 'lost') return false
    this.#backlog.written(written)
    this.#pauseMs = FIRST_PAUSE_MS
    this.#refusals = 0
    onWritten()
    if (batch.some(({ type }) => type === 'announce')) onAnnounced()
    return true
  }

  /** How many items of the timeline were dropped because the database was away for too long. */
  get dropped(): number {
    return this.#backlog.dropped
  }

  #lose(): void {
    if (this.#isLost) return
    this.abandon()
    this.#options.onLost()
  }

  /** A database that is away comes back. What it will never take must not hold up the run's end for ever. */
  async #noteTrouble(error: unknown): Promise<void> {
    if (isTransient(error)) {
      this.#watch(0)
      return
    }
    this.#options.onTrouble(error)
    if (++this.#refusals < MOST_REFUSALS) return
    this.#refusals = 0
    await this.#backlog.skip()
  }

  /** What waits goes to disk, from `inMs` on, until `#rest`. */
  #watch(inMs: Ms = LATE_MS): void {
    if (this.#isLost || this.#options.journal === null) return
    const { time } = this.#options
    const isDue = inMs === 0
    if (this.#spillTimer !== null && !isDue) return
    this.#spillTimer?.cancel()
    this.#spillTimer = time.at(time.now() + inMs, () => {
      this.#spillTimer = null
      void this.#backlog.spill()
      this.#watch(SPILL_EVERY_MS)
    })
  }

  #rest(): void {
    this.#spillTimer?.cancel()
    this.#spillTimer = null
  }

  #now(): string {
    return new Date(this.#options.wallClock()).toISOString()
  }

  #pause(): Promise<void> {
    const { time } = this.#options
    const pause = this.#pauseMs
    this.#pauseMs = Math.min(2 * pause, LONGEST_PAUSE_MS)
    return new Promise(resolve => void time.at(time.now() + pause, resolve))
  }
}
