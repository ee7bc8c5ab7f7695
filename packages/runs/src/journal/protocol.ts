import type { Scope } from '@parley/contract'
import type { RunOwnership } from '@parley/store'
import type { RunBatch, RunEnd } from '../run-entry.ts'

/** Storage of journals. Errors are those of the file system. */
export interface JournalDisk {
  /** Creates an empty file for reading and writing, accessible to this user alone; replaces one of that name. */
  create(name: string): Promise<JournalFile>
  open(name: string): Promise<JournalFile>
  list(): Promise<{ readonly name: string; readonly changedAt: number }[]>
  /** Replaces an existing target. False: there is no file of the name. */
  rename(from: string, to: string): Promise<boolean>
  remove(name: string): Promise<void>
  /** Identifies this process to `isAlive`: digits and dashes. */
  mark(): Promise<string>
  isAlive(mark: string): Promise<boolean>
}

export interface JournalFile {
  /** Writes all bytes or throws; after an error any part of them may be in the file. */
  write(bytes: Uint8Array, at: number): Promise<void>
  /** Fewer than `length` bytes at the end of the file. */
  read(at: number, length: number): Promise<Uint8Array>
  close(): Promise<void>
}

/** The first record of a journal: the run and its owner. */
export interface JournalHead {
  readonly scope: Scope
  readonly owned: RunOwnership
  /** The process that owned the run. */
  readonly engine: string
  /** The last sequence number of the timeline before the first batch. */
  readonly last_seq: number
}

export type JournalRecord =
  | { readonly type: 'batch'; readonly batch: RunBatch }
  | { readonly type: 'end'; readonly end: RunEnd }
