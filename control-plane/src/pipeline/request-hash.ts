import { createHash } from 'node:crypto'
import type { RawInput } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'

/**
 * SHA-256 by which two requests with one idempotency key are the same: path arguments, query and body as they were
 * sent, in RFC 8785 form. What is left out equals nothing given; a default written out does not equal one left out.
 * The same for HTTP and tools.
 */
export function requestHash(raw: RawInput): Buffer {
  const { params = {}, query = {}, body = {} } = raw
  return createHash('sha256').update(canonicalJson({ params, query, body })).digest()
}
