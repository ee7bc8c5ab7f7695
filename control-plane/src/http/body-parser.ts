import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { invalidRequest } from '../pipeline/parse-request.ts'
import { LARGE_BODY_BYTES, LargeBody } from '../reading/large-body.ts'
import { parseJson } from '../reading/parse-json.ts'
import { refusedRequest } from './request-fault.ts'

/**
 * The body as JSON; undefined if it is empty; a `LargeBody`, unparsed, if a worker thread parses it. The contract's parser
 * checks depth, names and characters. Throws a refusal if the body is not JSON, not UTF-8 or compressed.
 */
export function parseBody(request: FastifyRequest, body: Buffer): unknown {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw refusedRequest('the body must not be compressed', 'body: Content-Encoding is not supported')
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw refusedRequest('the body must be UTF-8', 'body: the charset of Content-Type is not UTF-8')
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw refusedRequest('the body is not UTF-8', 'body: not UTF-8')
  if (request.routeOptions.config.parsesOffThread === true && body.length > LARGE_BODY_BYTES) return new LargeBody(body)
  const parsed = parseJson(body.toString('utf8'))
  if (!parsed.ok) throw invalidRequest([parsed.issue])
  return parsed.value
}
