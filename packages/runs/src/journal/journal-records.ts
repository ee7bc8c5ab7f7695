import type { Utterance } from '@parley/conversation'
import type { RunOwnership, Sealer } from '@parley/store'
import type { RunEntry } from '../run-entry.ts'
import type { JournalFile, JournalHead, JournalRecord } from './protocol.ts'

/** Bytes of the length before each record. */
const LENGTH_BYTES = 4
/** A greater length marks the rest of the file as unreadable. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024

/** A checkpoint repeats the first `keep` utterances of the previous checkpoint in the file and stores only the rest. */
type StoredEntry =
  | Exclude<RunEntry, { readonly type: 'checkpoint' }>
  | { readonly type: 'checkpoint'; readonly keep: number; readonly utterances: readonly Utterance[] }

type Stored =
  | { readonly type: 'head'; readonly head: JournalHead }
  | { readonly type: 'batch'; readonly batch: readonly StoredEntry[] }
  | Extract<JournalRecord, { readonly type: 'end' }>

/** Encodes the records of a file in order from the first: each is encrypted, and authenticated with its run and position. */
export class RecordWriter {
  readonly #sealer: Sealer
  readonly #owned: RunOwnership
  #place = 0
  #last: readonly Utterance[] = []

  constructor(sealer: Sealer, owned: RunOwnership) {
    this.#sealer = sealer
    this.#owned = owned
  }

  head(head: JournalHead): EncodedRecord {
    return this.#encode({ type: 'head', head }, this.#last)
  }

  record(record: JournalRecord): EncodedRecord {
    if (record.type === 'end') return this.#encode(record, this.#last)
    let last = this.#last
    const batch = record.batch.map((entry): StoredEntry => {
      if (entry.type !== 'checkpoint') return entry
      const { utterances } = entry
      const keep = commonStart(last, utterances)
      last = utterances
      return { type: 'checkpoint', keep, utterances: utterances.slice(keep) }
    })
    return this.#encode({ type: 'batch', batch }, last)
  }

  #encode(stored: Stored, last: readonly Utterance[]): EncodedRecord {
    const sealed = this.#sealer.seal(Buffer.from(JSON.stringify(stored)), contextOf(this.#owned, this.#place))
    const bytes = Buffer.alloc(LENGTH_BYTES + sealed.length)
    bytes.writeUInt32BE(sealed.length)
    sealed.copy(bytes, LENGTH_BYTES)
    return {
      bytes,
      onWritten: () => {
        this.#place++
        this.#last = last
      },
    }
  }
}

export interface EncodedRecord {
  readonly bytes: Uint8Array
  /** Call it once the bytes are in the file: the next record follows this one. */
  readonly onWritten: () => void
}

/** Reads the complete records of a file in order. The incomplete record of a killed process at its end is ignored. */
export class RecordReader {
  readonly #file: JournalFile
  readonly #sealer: Sealer
  readonly #owned: RunOwnership
  #at = 0
  #place = 0
  #last: readonly Utterance[] = []

  constructor(file: JournalFile, sealer: Sealer, owned: RunOwnership) {
    this.#file = file
    this.#sealer = sealer
    this.#owned = owned
  }

  /** Offset of the next record in bytes. */
  get offset(): number {
    return this.#at
  }

  /** A copy that continues from here. */
  copy(): RecordReader {
    const copy = new RecordReader(this.#file, this.#sealer, this.#owned)
    copy.#at = this.#at
    copy.#place = this.#place
    copy.#last = this.#last
    return copy
  }

  /** Null: the file does not begin with a header. */
  async head(): Promise<JournalHead | null> {
    const stored = await this.#next()
    return stored?.type === 'head' ? stored.head : null
  }

  /** Null: there is no further record. */
  async record(): Promise<JournalRecord | null> {
    const stored = await this.#next()
    if (stored === null || stored.type === 'head') return null
    if (stored.type === 'end') return stored
    const batch = stored.batch.map((entry): RunEntry => {
      if (entry.type !== 'checkpoint') return entry
      this.#last = [...this.#last.slice(0, entry.keep), ...entry.utterances]
      return { type: 'checkpoint', utterances: this.#last }
    })
    return { type: 'batch', batch }
  }

  async #next(): Promise<Stored | null> {
    const start = Buffer.from(await this.#file.read(this.#at, LENGTH_BYTES))
    if (start.length < LENGTH_BYTES) return null
    const length = start.readUInt32BE()
    if (length > MAX_RECORD_BYTES) return null
    const sealed = Buffer.from(await this.#file.read(this.#at + LENGTH_BYTES, length))
    if (sealed.length < length) return null
    try {
      const plain = this.#sealer.open(sealed, contextOf(this.#owned, this.#place))
      this.#at += LENGTH_BYTES + length
      this.#place++
      return JSON.parse(plain.toString()) as Stored
    } catch {
      return null
    }
  }
}

function contextOf({ run_id, fence }: RunOwnership, place: number): string {
  return `run journal/${run_id}/${fence}/${place}`
}

function commonStart(a: readonly Utterance[], b: readonly Utterance[]): number {
  let same = 0
  while (same < a.length && same < b.length && isSame(a[same], b[same])) same++
  return same
}

function isSame(a: Utterance | undefined, b: Utterance | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
