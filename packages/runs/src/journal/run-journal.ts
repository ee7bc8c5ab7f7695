import type { Sealer } from '@parley/store'
import { RunsError } from '../errors.ts'
import { BATCH, itemsIn, type RunBatch, type RunEntry, withoutOldest } from '../run-entry.ts'
import { type EncodedRecord, RecordReader, RecordWriter } from './journal-records.ts'
import type { JournalDisk, JournalFile, JournalHead, JournalRecord } from './protocol.ts'

/** Bytes used by all journals of one process. */
export interface JournalCapacity {
  used: number
  readonly maxBytes: number
}

interface RunJournalOptions {
  readonly disk: JournalDisk
  readonly sealer: Sealer
  /** Creates the file and resolves to its name. */
  readonly name: () => Promise<string>
  readonly head: Omit<JournalHead, 'last_seq'>
  readonly capacity: JournalCapacity
  /** Most bytes of this file. */
  readonly maxBytes: number
  /** ISO time. */
  readonly now: () => string
}

/** An open journal file. */
interface Open {
  readonly name: string
  readonly file: JournalFile
  readonly writer: RecordWriter
  reader: RecordReader
  /** Offset of the next record; bytes after it belong to a failed write. */
  bytes: number
}

/**
 * Entries of a run that the database could not take, in a file that is created with the first record and removed with the
 * last. Call its methods one at a time.
 */
export class RunJournal {
  readonly #options: RunJournalOptions
  #open: Open | null = null

  constructor(options: RunJournalOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#open !== null
  }

  /** Whether `next` has another record. */
  get hasMore(): boolean {
    return this.#open !== null && this.#open.reader.offset < this.#open.bytes
  }

  /** Creates the file. `tried`: the batch being written to the database, which `next` does not return. */
  async begin(lastSeq: number, tried: RunBatch | null): Promise<void> {
    this.#open = await this.#create(await this.#options.name(), lastSeq, tried)
  }

  /**
   * Appends a record. A full journal drops its oldest timeline items except `tried`; resolves to their number. Throws
   * `journal_full` and errors of the disk; then the record is not in the file.
   */
  async append(record: JournalRecord, lastSeq: number, tried: RunBatch | null): Promise<number> {
    let open = this.#opened()
    let encoded = open.writer.record(record)
    let dropped = 0
    if (!this.#hasSpace(open, encoded)) {
      dropped = await this.#shrink(lastSeq, tried)
      open = this.#opened()
      encoded = open.writer.record(record)
      if (!this.#hasSpace(open, encoded))
        throw new RunsError('journal_full', `the journal has no space for a record of ${encoded.bytes.length} bytes`)
    }
    await this.#write(open, encoded)
    return dropped
  }

  /**
   * The next batch to write. Small records, one per half second, are merged. Null: none is left.
   */
  async next(): Promise<RunBatch | null> {
    let batch: RunEntry[] | null = null
    while (this.hasMore) {
      const open = this.#opened()
      const ahead = open.reader.copy()
      const record = await ahead.record()
      if (record === null) {
        // The complete records before an unreadable one are written first.
        if (batch !== null) break
        throw new RunsError(
          'journal_broken',
          'a record that this process wrote cannot be read back; the disk may be damaged',
        )
      }
      // The end comes last, even when entries were added after it.
      if (record.type === 'batch') {
        if (batch !== null && batch.length + record.batch.length > BATCH) break
        batch = [...(batch ?? []), ...record.batch]
      }
      open.reader = ahead
    }
    return batch
  }

  /** Rewrites the file with the records that `next` has not read; they follow sequence number `lastSeq`. */
  async rebase(lastSeq: number, tried: RunBatch | null): Promise<void> {
    await this.#replace(lastSeq, tried, await this.#unread())
  }

  /** Never rejects; a file that cannot be removed is removed by a later process. */
  async remove(): Promise<void> {
    const open = this.#open
    this.#open = null
    if (open === null) return
    this.#options.capacity.used -= open.bytes
    await open.file.close().catch(() => {})
    await this.#options.disk.remove(open.name).catch(() => {})
  }

  /** Drops the older half of the unread timeline items, and entries that later ones replace. */
  async #shrink(lastSeq: number, tried: RunBatch | null): Promise<number> {
    const records = await this.#unread()
    const entries = records.flatMap(record => (record.type === 'batch' ? record.batch : []))
    const last = new Map(entries.map(entry => [entry.type, entry]))
    const current = entries.filter(
      entry => (entry.type !== 'checkpoint' && entry.type !== 'dialog') || last.get(entry.type) === entry,
    )
    const half = Math.ceil(itemsIn(current) / 2)
    const { entries: rest, dropped } = withoutOldest(current, half, this.#options.now())
    const ends = records.filter(({ type }) => type === 'end')
    await this.#replace(lastSeq, tried, [...batchesOf(rest), ...ends])
    return dropped
  }

  async #replace(lastSeq: number, tried: RunBatch | null, records: readonly JournalRecord[]): Promise<void> {
    const { disk, capacity } = this.#options
    const old = this.#opened()
    const beside = `${old.name}.new`
    const made = await this.#create(beside, lastSeq, tried)
    try {
      for (const record of records) await this.#write(made, made.writer.record(record))
      await disk.rename(beside, old.name)
    } catch (error) {
      // The old file stays in place.
      capacity.used -= made.bytes
      await made.file.close().catch(() => {})
      await disk.remove(beside).catch(() => {})
      throw error
    }
    capacity.used -= old.bytes
    await old.file.close().catch(() => {})
    this.#open = { ...made, name: old.name }
  }

  async #unread(): Promise<JournalRecord[]> {
    const { reader, bytes } = this.#opened()
    const records: JournalRecord[] = []
    const again = reader.copy()
    while (again.offset < bytes) {
      const record = await again.record()
      if (record === null)
        throw new RunsError(
          'journal_broken',
          'a record that this process wrote cannot be read back; the disk may be damaged',
        )
      records.push(record)
    }
    return records
  }

  async #create(name: string, lastSeq: number, tried: RunBatch | null): Promise<Open> {
    const { disk, sealer, head, capacity } = this.#options
    const file = await disk.create(name)
    const writer = new RecordWriter(sealer, head.owned)
    const made: Open = { name, file, writer, reader: new RecordReader(file, sealer, head.owned), bytes: 0 }
    try {
      await this.#write(made, writer.head({ ...head, last_seq: lastSeq }))
      if (tried !== null) await this.#write(made, writer.record({ type: 'batch', batch: tried }))
      await made.reader.head()
      if (tried !== null) await made.reader.record()
    } catch (error) {
      capacity.used -= made.bytes
      await file.close().catch(() => {})
      await disk.remove(name).catch(() => {})
      throw error
    }
    return made
  }

  async #write(open: Open, { bytes, onWritten: isThere }: EncodedRecord): Promise<void> {
    await open.file.write(bytes, open.bytes)
    isThere()
    open.bytes += bytes.length
    this.#options.capacity.used += bytes.length
  }

  #hasSpace(open: Open, { bytes: { length } }: EncodedRecord): boolean {
    const { capacity, maxBytes } = this.#options
    return open.bytes + length <= maxBytes && capacity.used + length <= capacity.maxBytes
  }

  #opened(): Open {
    if (this.#open === null) throw new TypeError('the journal has no file')
    return this.#open
  }
}

function batchesOf(entries: readonly RunEntry[]): JournalRecord[] {
  const records: JournalRecord[] = []
  for (let i = 0; i < entries.length; i += BATCH) records.push({ type: 'batch', batch: entries.slice(i, i + BATCH) })
  return records
}
