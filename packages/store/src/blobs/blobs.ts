import type { Readable } from 'node:stream'
import type { ParleyError } from '@parley/kernel'
import { StoreError } from '../errors.ts'

/** Bytes `from` (counts from 0) to before `to`; without `to`, or past the end: to the end. */
export interface ByteRange {
  readonly from: number
  readonly to?: number
}

export interface BlobContent {
  /** Bytes of the whole object, whatever range was requested. */
  readonly size: number
  /** Read it to its end or destroy it: it holds a file or connection open. It shows the object as it was when opened. */
  readonly bytes: Readable
}

export interface BlobEntry {
  readonly key: string
  readonly size: number
}

/**
 * Objects of bytes by key: segments of recordings, documents. A key is 1 to 16 parts joined by `/`, at most 512
 * characters; a part is a lower-case letter or digit, then up to 127 of `a-z 0-9 . _ -`. No key may be another's
 * beginning up to a `/`.
 * Errors: `blob_key_invalid`; `blob_too_large`; `blob_range_invalid`; `blobs_unavailable` (retryable, with the cause).
 */
export interface Blobs {
  /**
   * Writes or replaces the object; it is durable once this resolves. Readers see the old object or the whole new one, never
   * a part. When `content` throws, the error is rethrown and the old object stays.
   */
  put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>
  /** Null: no such object. Throws `blob_range_invalid` when the range begins behind the last byte. */
  get(key: string, range?: ByteRange): Promise<BlobContent | null>
  /** Size in bytes; null: no such object. */
  size(key: string): Promise<number | null>
  /** False: no such object. */
  delete(key: string): Promise<boolean>
  /** Objects whose keys begin with `prefix`, ascending by key. Concurrent changes may or may not be listed. */
  list(prefix: string): AsyncIterable<BlobEntry>
}

const MAX_KEY = 512
const MAX_PARTS = 16
const PART = /^[a-z0-9][a-z0-9._-]{0,127}$/

/** The parts of a key. Throws `blob_key_invalid`. */
export function keyParts(key: string): readonly string[] {
  const parts = key.length <= MAX_KEY ? key.split('/', MAX_PARTS + 1) : []
  if (parts.length === 0 || parts.length > MAX_PARTS || !parts.every(part => PART.test(part))) throw invalidKey(key)
  return parts
}

export function invalidKey(key: string, why = 'is no key'): ParleyError {
  return new StoreError('blob_key_invalid', `${JSON.stringify(key.slice(0, MAX_KEY))} ${why}`)
}

/** The range as the first byte and the one behind the last. Throws `blob_range_invalid`. */
export function withinSize({ from, to }: ByteRange, size: number): { readonly from: number; readonly to: number } {
  const end = Math.min(to ?? size, size)
  const isSound = Number.isSafeInteger(from) && from >= 0 && (to === undefined || Number.isSafeInteger(to))
  if (!isSound || from >= end)
    throw new StoreError('blob_range_invalid', `bytes ${from} to ${to ?? 'the end'} of an object of ${size}`)
  return { from, to: end }
}
