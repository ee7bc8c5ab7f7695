import type { RunJournal } from './journal/run-journal.ts'
import { BATCH, itemsIn, type RunBatch, type RunEnd, type RunEntry, withoutOldest } from './run-entry.ts'

/** Waiting in memory; beyond it the oldest items of the timeline are dropped, and the timeline says so. */
const MOST_WAITING = 20_000
/** Dropped at once. */
const DROP = 1000

export interface RunBacklogOptions {
  /** Of the timeline: the next item is the one after it. */
  readonly lastSeq: number
  /** Null: all is kept in memory. */
  readonly journal: RunJournal | null
  /** ISO time. */
  readonly now: () => string
  /** The disk does not take it: it waits in memory. */
  readonly onUnkept: (error: unknown) => void
  /** The disk takes what waits. */
  readonly onKept: () => void
}

/**
 * What waits to be written of a run, in order: the batch that is being written, what lies in the journal, what came since.
 * Nothing is put into the journal but by `spill`.
 */
export class RunBacklog {
  readonly #options: RunBacklogOptions
  #lastSeq: number
  #tried: RunBatch | null = null
  #waiting: RunEntry[] = []
  #end: RunEnd | null = null
  #isEndKept = false
  #isOver = false
  #dropped = 0
  /** The journal is asked one thing after the other. */
  #lane: Promise<unknown> = Promise.resolve()

  constructor(options: RunBacklogOptions) {
    this.#options = options
    this.#lastSeq = options.lastSeq
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  /** How many items of the timeline were dropped. */
  get dropped(): number {
    return this.#dropped
  }

  get isEmpty(): boolean {
    return this.#tried === null && this.#waiting.length === 0 && this.#options.journal?.hasMore !== true
  }

  add(entry: RunEntry): void {
    if (this.#isOver) return
    // Only the last of either counts.
    if (entry.type === 'checkpoint' || entry.type === 'dialog')
      this.#waiting = this.#waiting.filter(({ type }) => type !== entry.type)
    this.#waiting.push(entry)
    if (this.#waiting.length <= MOST_WAITING) return
    const { entries, dropped } = withoutOldest(this.#waiting, DROP, this.#options.now())
    this.#waiting = entries
    this.#dropped += dropped
  }

  /** After all that was told: kept in the journal with it. */
  end(end: RunEnd): void {
    this.#end = end
    this.#isEndKept = false
  }

  /** What is to be written next; the same again until `written` or `skip`. Null: nothing waits. Never rejects. */
  take(): Promise<RunBatch | null> {
    return this.#inLane(async () => {
      if (this.#isOver) return null
      this.#tried ??= await this.#next()
      return this.#tried
    })
  }

  /** The batch is in the database. */
  written(lastSeq: number): void {
    this.#tried = null
    this.#lastSeq = lastSeq
  }

  /** Goes without the batch: the database is there and never takes it. */
  skip(): Promise<void> {
    return this.#inLane(async () => {
      this.#dropped += itemsIn(this.#tried ?? [])
      this.#tried = null
      const { journal, onUnkept } = this.#options
      if (journal?.isOpen === true) await journal.rebase(this.#lastSeq, null).catch(onUnkept)
    })
  }

  /** Puts into the journal what is not there yet; what it does not take stays in memory. Never rejects. */
  spill(): Promise<void> {
    return this.#inLane(async () => {
      const { journal, onUnkept, onKept } = this.#options
      if (journal === null || this.#isOver || (this.isEmpty && this.#end === null)) return
      try {
        if (!journal.isOpen) {
          this.#isEndKept = false
          await journal.begin(this.#lastSeq, this.#tried)
        }
        while (this.#waiting.length > 0) {
          const batch = this.#waiting.slice(0, BATCH)
          this.#dropped += await journal.append({ type: 'batch', batch }, this.#lastSeq, this.#tried)
          // What was dropped or replaced meanwhile is not in front any more.
          const kept = new Set(batch)
          this.#waiting = this.#waiting.filter(entry => !kept.has(entry))
        }
        if (this.#end !== null && !this.#isEndKept) {
          this.#dropped += await journal.append({ type: 'end', end: this.#end }, this.#lastSeq, this.#tried)
          this.#isEndKept = true
        }
        onKept()
      } catch (error) {
        onUnkept(error)
      }
    })
  }

  /** All is written, or nobody's any more: nothing is kept. */
  close(): Promise<void> {
    this.#isOver = true
    this.#waiting = []
    return this.#inLane(async () => {
      this.#tried = null
      await this.#options.journal?.remove()
    })
  }

  async #next(): Promise<RunBatch | null> {
    const { journal } = this.#options
    const kept = journal?.hasMore === true ? await this.#read(journal) : null
    if (kept !== null) return kept
    // All of it is in the database. Where the end alone is left the file goes after that.
    if (journal?.isOpen === true && (this.#end === null || this.#waiting.length > 0)) await journal.remove()
    const batch = this.#waiting.slice(0, BATCH)
    this.#waiting = this.#waiting.slice(batch.length)
    return batch.length === 0 ? null : batch
  }

  async #read(journal: RunJournal): Promise<RunBatch | null> {
    try {
      return await journal.next()
    } catch (error) {
      // What was there is gone: the run goes on without it.
      this.#options.onUnkept(error)
      await journal.remove()
      return null
    }
  }

  #inLane<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#lane.then(work)
    this.#lane = result.catch(() => {})
    return result
  }
}
