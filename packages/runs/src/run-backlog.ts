import type { RunJournal } from './journal/run-journal.ts'
import { BATCH, itemsIn, type RunBatch, type RunEnd, type RunEntry, withoutOldest } from './run-entry.ts'

/** Entries in memory. Beyond it the oldest timeline items are dropped, and the timeline records the gap. */
const MAX_WAITING = 20_000
/** Items dropped at a time. */
const DROP = 1000

interface RunBacklogOptions {
  /** The last sequence number of the timeline. */
  readonly lastSeq: number
  /** Null: everything stays in memory. */
  readonly journal: RunJournal | null
  /** ISO time. */
  readonly now: () => string
  /** Writing to disk failed; the entries stay in memory. */
  readonly onStoreFailed: (error: unknown) => void
  /** Writing to disk succeeded. */
  readonly onStored: () => void
}

/**
 * Entries of a run that wait for the database, in order: the batch being written, the records in the journal, and newer
 * entries in memory. Only `spill` writes to the journal.
 */
export class RunBacklog {
  readonly #options: RunBacklogOptions
  #lastSeq: number
  #inFlight: RunBatch | null = null
  #waiting: RunEntry[] = []
  #end: RunEnd | null = null
  #isEndStored = false
  #isOver = false
  #dropped = 0
  /** Operations on the journal run one after the other. */
  #journalQueue: Promise<unknown> = Promise.resolve()

  constructor(options: RunBacklogOptions) {
    this.#options = options
    this.#lastSeq = options.lastSeq
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Timeline items dropped so far. */
  get dropped(): number {
    return this.#dropped
  }

  get isEmpty(): boolean {
    return this.#inFlight === null && this.#waiting.length === 0 && this.#options.journal?.hasMore !== true
  }

  add(entry: RunEntry): void {
    if (this.#isOver) return
    // A newer checkpoint or dialog replaces the older one.
    if (entry.type === 'checkpoint' || entry.type === 'dialog')
      this.#waiting = this.#waiting.filter(({ type }) => type !== entry.type)
    this.#waiting.push(entry)
    if (this.#waiting.length <= MAX_WAITING) return
    const { entries, dropped } = withoutOldest(this.#waiting, DROP, this.#options.now())
    this.#waiting = entries
    this.#dropped += dropped
  }

  /** Sets the end of the run, which is stored after all entries. */
  end(end: RunEnd): void {
    this.#end = end
    this.#isEndStored = false
  }

  /** The next batch to write; the same one until `written` or `skip`. Null: nothing waits. Never rejects. */
  take(): Promise<RunBatch | null> {
    return this.#serialised(async () => {
      if (this.#isOver) return null
      this.#inFlight ??= await this.#next()
      return this.#inFlight
    })
  }

  /** The batch is in the database. */
  written(lastSeq: number): void {
    this.#inFlight = null
    this.#lastSeq = lastSeq
  }

  /** Drops a batch that the database refuses for good. */
  skip(): Promise<void> {
    return this.#serialised(async () => {
      this.#dropped += itemsIn(this.#inFlight ?? [])
      this.#inFlight = null
      const { journal, onStoreFailed } = this.#options
      if (journal?.isOpen === true) await journal.rebase(this.#lastSeq, null).catch(onStoreFailed)
    })
  }

  /** Moves entries from memory to the journal; those that cannot be stored stay in memory. Never rejects. */
  spill(): Promise<void> {
    return this.#serialised(async () => {
      const { journal, onStoreFailed, onStored } = this.#options
      if (journal === null || this.#isOver || (this.isEmpty && this.#end === null)) return
      try {
        if (!journal.isOpen) {
          this.#isEndStored = false
          await journal.begin(this.#lastSeq, this.#inFlight)
        }
        while (this.#waiting.length > 0) {
          const batch = this.#waiting.slice(0, BATCH)
          this.#dropped += await journal.append({ type: 'batch', batch }, this.#lastSeq, this.#inFlight)
          // Entries may have been dropped or replaced meanwhile, so positions are not reliable.
          const stored = new Set(batch)
          this.#waiting = this.#waiting.filter(entry => !stored.has(entry))
        }
        if (this.#end !== null && !this.#isEndStored) {
          this.#dropped += await journal.append({ type: 'end', end: this.#end }, this.#lastSeq, this.#inFlight)
          this.#isEndStored = true
        }
        onStored()
      } catch (error) {
        onStoreFailed(error)
      }
    })
  }

  /** Everything is written, or the run is lost: discards memory and journal. */
  close(): Promise<void> {
    this.#isOver = true
    this.#waiting = []
    return this.#serialised(async () => {
      this.#inFlight = null
      await this.#options.journal?.remove()
    })
  }

  async #next(): Promise<RunBatch | null> {
    const { journal } = this.#options
    const fromJournal = journal?.hasMore === true ? await this.#read(journal) : null
    if (fromJournal !== null) return fromJournal
    // Every batch is in the database. If only the end is missing, the file is removed after the end is written.
    if (journal?.isOpen === true && (this.#end === null || this.#waiting.length > 0)) await journal.remove()
    const batch = this.#waiting.slice(0, BATCH)
    this.#waiting = this.#waiting.slice(batch.length)
    return batch.length === 0 ? null : batch
  }

  async #read(journal: RunJournal): Promise<RunBatch | null> {
    try {
      return await journal.next()
    } catch (error) {
      // The journal cannot be read, so the run continues without its entries.
      this.#options.onStoreFailed(error)
      await journal.remove()
      return null
    }
  }

  #serialised<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#journalQueue.then(work)
    this.#journalQueue = result.catch(() => {})
    return result
  }
}
