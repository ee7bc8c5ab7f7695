import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { refusedRequest } from './request-fault.ts'

/**
 * The JSON of a body; undefined for an empty one. Depth, names and characters are looked at by the contract's parser.
 * Throws the refusal of what is no JSON, no UTF-8 or compressed.
 */
export function parseBody(request: FastifyRequest, body: Buffer): unknown {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw refusedRequest('the body must not be compressed', 'body: Content-Encoding is not taken')
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw refusedRequest('the body is not UTF-8', 'body: not UTF-8')
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // The parser's message quotes the body, which may hold secrets.
    throw refusedRequest('the body is not JSON', 'body: not JSON')
  }
}
