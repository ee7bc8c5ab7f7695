import { hash } from 'node:crypto'
import type { RawInput } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'

/**
 * SHA-256 of path parameters, query and body, unparsed, in the canonical JSON of RFC 8785. Two requests with one
 * idempotency key are repetitions if their hashes are equal. An absent part equals an empty one; a default that is written
 * out differs from one that is left out. HTTP and tools have the same hash.
 */
export function requestHash(raw: RawInput): Buffer {
  const { params = {}, query = {}, body = {} } = raw
  return hash('sha256', canonicalJson({ params, query, body }), 'buffer')
}
