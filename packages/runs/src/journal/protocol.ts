import type { Scope } from '@parley/contract'
import type { RunOwnership } from '@parley/store'
import type { RunBatch, RunEnd } from '../run-entry.ts'

/** Where journals lie. Errors are those of the file system. */
export interface JournalDisk {
  /** Empty, for reading and writing, for this user alone; over one of that name. */
  create(name: string): Promise<JournalFile>
  open(name: string): Promise<JournalFile>
  list(): Promise<{ readonly name: string; readonly changedAt: number }[]>
  /** Also over another. False: there is none of the name. */
  rename(from: string, to: string): Promise<boolean>
  remove(name: string): Promise<void>
  /** Which process this is, as `isAlive` knows it: digits and dashes. */
  mark(): Promise<string>
  isAlive(mark: string): Promise<boolean>
}

export interface JournalFile {
  /** All of it, or throws: then any part of it may be there. */
  write(bytes: Uint8Array, at: number): Promise<void>
  /** Less than `length` at the end of the file. */
  read(at: number, length: number): Promise<Uint8Array>
  close(): Promise<void>
}

/** Whose journal it is: its first record. */
export interface JournalHead {
  readonly scope: Scope
  readonly owned: RunOwnership
  /** Who had the run. */
  readonly engine: string
  /** Of the timeline, before the first batch. */
  readonly last_seq: number
}

export type JournalRecord =
  | { readonly type: 'batch'; readonly batch: RunBatch }
  | { readonly type: 'end'; readonly end: RunEnd }
