import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { notJson } from '../pipeline/parse-request.ts'
import { LARGE_BODY_BYTES, LargeBody } from '../reading/large-body.ts'
import { refusedRequest } from './request-fault.ts'

/**
 * The JSON of a body; undefined for an empty one, unread (`LargeBody`) where a thread reads it. Depth, names and characters are looked at by the contract's parser.
 * Throws the refusal of what is no JSON, no UTF-8 or compressed.
 */
export function parseBody(request: FastifyRequest, body: Buffer): unknown {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw refusedRequest('the body must not be compressed', 'body: Content-Encoding is not taken')
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw refusedRequest('the body is not UTF-8', 'body: not UTF-8')
  if (request.routeOptions.config.parsesOffThread === true && body.length > LARGE_BODY_BYTES) return new LargeBody(body)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw notJson()
  }
}
