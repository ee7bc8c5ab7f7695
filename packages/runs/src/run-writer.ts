import type { Scope } from '@parley/contract'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { Database, Finish, RunOwnership } from '@parley/store'
import type { RunJournal } from './journal/run-journal.ts'
import { isTransient } from './retry-until-answered.ts'
import { RunBacklog } from './run-backlog.ts'
import { type RunBatch, type RunEnd, type RunEntry, writeBatch, writeEnd } from './run-entry.ts'

/** An entry waits at most this long for others of its batch. */
const GATHER_MS: Ms = 100
/** A SIP message waits this long for other entries, so that a call does not cost a transaction for each message. */
const GATHER_SIP_MS: Ms = 2000
const FIRST_PAUSE_MS: Ms = 250
const LONGEST_PAUSE_MS: Ms = 2000
/** A database that takes longer may be away: from then on waiting entries go to disk. */
const LATE_MS: Ms = 1000
/** While the database is away, a killed process loses at most the entries of this time. */
const SPILL_EVERY_MS: Ms = 500
/** A batch that the database refused this often is skipped. */
const MAX_REFUSALS = 5

interface RunWriterOptions {
  readonly database: Database
  readonly scope: Scope
  readonly owned: RunOwnership
  /** Number of the timeline's last item. */
  readonly lastSeq: number
  /** Stores waiting entries on disk while the database is away; null: they stay in memory. */
  readonly journal: RunJournal | null
  readonly time: Time
  readonly wallClock: () => number
  /** A batch was committed. */
  readonly onWritten: () => void
  /** A webhook of the run was committed. */
  readonly onAnnounced: () => void
  /** Called when the store refuses a write: whether this process still owns the run, by renewing its lease. */
  readonly isStillOwned: () => Promise<boolean>
  readonly onLost: () => void
  /** The database refused a batch for another reason than an outage: a defect of the program. */
  readonly onTrouble: (error: unknown) => void
  /** Writing to the journal failed (the error), or succeeds again (null). */
  readonly onJournal: (trouble: unknown) => void
}

/**
 * Writes the entries of a run in order, in batches, each batch one transaction under the run's fence. While the database is
 * away it retries, and waiting entries go to disk: the call goes on meanwhile.
 */
export class RunWriter {
  readonly #options: RunWriterOptions
  readonly #backlog: RunBacklog
  #timer: Timer | null = null
  #dueAt: Ms = 0
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
      lastSeq,
      journal,
      now: () => this.#now(),
      onStoreFailed: onJournal,
      onStored: () => onJournal(null),
    })
  }

  add(entry: RunEntry): void {
    if (this.#isLost) return
    this.#backlog.add(entry)
    this.#schedule(entry.type === 'sip' ? GATHER_SIP_MS : GATHER_MS)
  }

  /** As `add`, and writes the entry to disk at once. Resolves when it is there or the disk failed. Never rejects. */
  async persist(entry: RunEntry): Promise<void> {
    this.add(entry)
    if (!this.#isLost) await this.#backlog.spill()
  }

  /** Resolves when all entries so far are in the database, or the run is lost; waits while the database is away. Never rejects. */
  async written(): Promise<void> {
    if (!this.#isLost) await this.#writeAll()
  }

  /** Another process owns the run: nothing more is written. */
  abandon(): void {
    this.#isLost = true
    this.#timer?.cancel()
    this.#timer = null
    this.#cancelSpill()
    void this.#backlog.close()
  }

  /** Writes the waiting entries, then the end in one transaction; retries until that is done or the run is lost. */
  async finish(end: RunEnd): Promise<Finish> {
    const { database, scope, owned } = this.#options
    this.#backlog.end(end)
    while (!this.#isLost) {
      await this.#writeAll()
      if (this.#isLost) break
      try {
        this.#scheduleSpill()
        const done = await writeEnd(end, { database, scope, owned })
        if (done !== 'lost') {
          this.#cancelSpill()
          await this.#backlog.close()
          return done
        }
        if (!(await this.#options.isStillOwned())) break
      } catch (error) {
        await this.#noteTrouble(error)
      }
      await this.#pause()
    }
    this.#cancelSpill()
    await this.#backlog.close()
    return 'lost'
  }

  #schedule(inMs: Ms): void {
    if (this.#work !== null || this.#isLost) return
    const { time } = this.#options
    const dueAt = time.now() + inMs
    if (this.#timer !== null && this.#dueAt <= dueAt) return
    this.#timer?.cancel()
    this.#dueAt = dueAt
    this.#timer = time.at(dueAt, () => {
      this.#timer = null
      void this.#writeAll()
    })
  }

  /** Resolves when nothing waits any more or the run is lost; never rejects. */
  #writeAll(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = null
    this.#work ??= this.#loop().finally(() => {
      this.#work = null
      this.#cancelSpill()
      if (!this.#backlog.isEmpty) this.#schedule(GATHER_MS)
    })
    return this.#work
  }

  async #loop(): Promise<void> {
    for (;;) {
      const batch = await this.#backlog.take()
      if (batch === null || this.#isLost) return
      this.#scheduleSpill()
      try {
        if (await this.#write(batch)) continue
        if (!(await this.#options.isStillOwned())) return this.#lose()
      } catch (error) {
        await this.#noteTrouble(error)
      }
      await this.#pause()
    }
  }

  /** False: the store says that this process does not own the run. Throws while the database is away. */
  async #write(batch: RunBatch): Promise<boolean> {
    const { database, scope, owned, onWritten, onAnnounced } = this.#options
    const written = await writeBatch(batch, {
      database,
      scope,
      owned,
      now: this.#now(),
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

  /** Waits out an outage, and skips a batch that the database refuses again and again, so that the run can end. */
  async #noteTrouble(error: unknown): Promise<void> {
    if (isTransient(error)) {
      this.#scheduleSpill(0)
      return
    }
    this.#options.onTrouble(error)
    if (++this.#refusals < MAX_REFUSALS) return
    this.#refusals = 0
    await this.#backlog.skip()
  }

  /** Writes waiting entries to disk, from `inMs` on, until `#rest`. */
  #scheduleSpill(inMs: Ms = LATE_MS): void {
    if (this.#isLost || this.#options.journal === null) return
    const { time } = this.#options
    const isDue = inMs === 0
    if (this.#spillTimer !== null && !isDue) return
    this.#spillTimer?.cancel()
    this.#spillTimer = time.at(time.now() + inMs, () => {
      this.#spillTimer = null
      void this.#backlog.spill()
      this.#scheduleSpill(SPILL_EVERY_MS)
    })
  }

  #cancelSpill(): void {
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
