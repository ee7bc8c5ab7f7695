import { ParleyError } from '@parley/kernel'
import type { Sealer } from '@parley/store'
import { BATCH, itemsIn, type RunBatch, type RunEntry, withoutOldest } from '../run-entry.ts'
import { type EncodedRecord, RecordReader, RecordWriter } from './journal-records.ts'
import type { JournalDisk, JournalFile, JournalHead, JournalRecord } from './protocol.ts'

/** Bytes of all journals of one keeper. */
export interface JournalCapacity {
  used: number
  readonly most: number
}

export interface RunJournalOptions {
  readonly disk: JournalDisk
  readonly sealer: Sealer
  /** Resolves to the name of its file. */
  readonly name: () => Promise<string>
  readonly head: Omit<JournalHead, 'last_seq'>
  readonly room: JournalCapacity
  /** Of this file. */
  readonly mostBytes: number
  /** ISO time. */
  readonly now: () => string
}

/** What is open of a file. */
interface Open {
  readonly name: string
  readonly file: JournalFile
  readonly writer: RecordWriter
  reader: RecordReader
  /** Where the next record goes: what lies behind is of a write that failed. */
  bytes: number
}

/**
 * What a run's database does not take, in a file of its own, which is made with the first record and removed with the
 * last. Its methods are called one after the other, each after the one before resolved.
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
    return this.#open !== null && this.#open.reader.at < this.#open.bytes
  }

  /** Makes the file. `tried`: the batch that is being written to the database; it is not read again. */
  async begin(lastSeq: number, tried: RunBatch | null): Promise<void> {
    this.#open = await this.#made(await this.#options.name(), lastSeq, tried)
  }

  /**
   * Where there is no room the oldest items of the timeline go, `tried` excepted; answers how many. Throws `journal_full`,
   * and what the disk throws: then the record is not in the file.
   */
  async append(record: JournalRecord, lastSeq: number, tried: RunBatch | null): Promise<number> {
    let open = this.#opened()
    let encoded = open.writer.record(record)
    let dropped = 0
    if (!this.#hasRoom(open, encoded)) {
      dropped = await this.#shrink(lastSeq, tried)
      open = this.#opened()
      encoded = open.writer.record(record)
      if (!this.#hasRoom(open, encoded))
        throw new ParleyError('journal_full', `there is no room for ${encoded.bytes.length} bytes`)
    }
    await this.#write(open, encoded)
    return dropped
  }

  /**
   * What is to be written next: of several records where they are small, for one is made every half second. Null: there is
   * none, by now.
   */
  async next(): Promise<RunBatch | null> {
    let batch: RunEntry[] | null = null
    while (this.hasMore) {
      const open = this.#opened()
      const ahead = open.reader.copy()
      const record = await ahead.record()
      if (record === null) {
        // What is whole is written first.
        if (batch !== null) break
        throw new ParleyError('journal_broken', 'what was written cannot be read')
      }
      // The end comes last, whatever was told after it.
      if (record.type === 'batch') {
        if (batch !== null && batch.length + record.batch.length > BATCH) break
        batch = [...(batch ?? []), ...record.batch]
      }
      open.reader = ahead
    }
    return batch
  }

  /** Makes the file anew, of what `next` has not read: `lastSeq` is where that goes. */
  async rebase(lastSeq: number, tried: RunBatch | null): Promise<void> {
    await this.#replace(lastSeq, tried, await this.#unread())
  }

  /** Never rejects; what cannot be removed is removed by a later process. */
  async remove(): Promise<void> {
    const open = this.#open
    this.#open = null
    if (open === null) return
    this.#options.room.used -= open.bytes
    await open.file.close().catch(() => {})
    await this.#options.disk.remove(open.name).catch(() => {})
  }

  /** Of the records that are not read yet, half their items go, the oldest first, and what later ones replace. */
  async #shrink(lastSeq: number, tried: RunBatch | null): Promise<number> {
    const records = await this.#unread()
    const entries = records.flatMap(record => (record.type === 'batch' ? record.batch : []))
    const last = new Map(entries.map(entry => [entry.type, entry]))
    const current = entries.filter(
      entry => (entry.type !== 'checkpoint' && entry.type !== 'dialog') || last.get(entry.type) === entry,
    )
    const half = Math.ceil(itemsIn(current) / 2)
    const { entries: kept, dropped } = withoutOldest(current, half, this.#options.now())
    const ends = records.filter(({ type }) => type === 'end')
    await this.#replace(lastSeq, tried, [...batchesOf(kept), ...ends])
    return dropped
  }

  async #replace(lastSeq: number, tried: RunBatch | null, records: readonly JournalRecord[]): Promise<void> {
    const { disk, room } = this.#options
    const old = this.#opened()
    const beside = `${old.name}.new`
    const made = await this.#made(beside, lastSeq, tried)
    try {
      for (const record of records) await this.#write(made, made.writer.record(record))
      await disk.rename(beside, old.name)
    } catch (error) {
      // The file stays as it was.
      room.used -= made.bytes
      await made.file.close().catch(() => {})
      await disk.remove(beside).catch(() => {})
      throw error
    }
    room.used -= old.bytes
    await old.file.close().catch(() => {})
    this.#open = { ...made, name: old.name }
  }

  async #unread(): Promise<JournalRecord[]> {
    const { reader, bytes } = this.#opened()
    const records: JournalRecord[] = []
    const again = reader.copy()
    while (again.at < bytes) {
      const record = await again.record()
      if (record === null) throw new ParleyError('journal_broken', 'what was written cannot be read')
      records.push(record)
    }
    return records
  }

  async #made(name: string, lastSeq: number, tried: RunBatch | null): Promise<Open> {
    const { disk, sealer, head, room } = this.#options
    const file = await disk.create(name)
    const writer = new RecordWriter(sealer, head.owned)
    const made: Open = { name, file, writer, reader: new RecordReader(file, sealer, head.owned), bytes: 0 }
    try {
      await this.#write(made, writer.head({ ...head, last_seq: lastSeq }))
      if (tried !== null) await this.#write(made, writer.record({ type: 'batch', batch: tried }))
      await made.reader.head()
      if (tried !== null) await made.reader.record()
    } catch (error) {
      room.used -= made.bytes
      await file.close().catch(() => {})
      await disk.remove(name).catch(() => {})
      throw error
    }
    return made
  }

  async #write(open: Open, { bytes, isThere }: EncodedRecord): Promise<void> {
    await open.file.write(bytes, open.bytes)
    isThere()
    open.bytes += bytes.length
    this.#options.room.used += bytes.length
  }

  #hasRoom(open: Open, { bytes: { length } }: EncodedRecord): boolean {
    const { room, mostBytes } = this.#options
    return open.bytes + length <= mostBytes && room.used + length <= room.most
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
