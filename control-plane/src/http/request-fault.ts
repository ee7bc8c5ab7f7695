import type { IncomingMessage } from 'node:http'
import { API_ERRORS, type ErrorEnvelope, envelopeOf, Refusal } from '@parley/contract'
import type { Answer } from '../pipeline/answer.ts'
import { failureOf } from '../pipeline/failure.ts'

/** The refusal of a request that cannot be passed to an operation. */
export function refusedRequest(message: string, issue: string): Refusal {
  return new Refusal('invalid_request', message, { details: { issues: [{ path: '', message: issue }] } })
}

const NO_JSON = 'the body must be application/json in UTF-8, without another encoding'

/** The refusal for an error of Fastify about the request, by its code; any other error is returned unchanged. */
export function requestFault(error: unknown): unknown {
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('invalid_request', 'the body is too large for this operation', { reason: 'body_too_large' })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return refusedRequest(NO_JSON, `body: ${NO_JSON}`)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET':
    case 'ECONNABORTED':
      return refusedRequest('the body ended early', 'body: shorter or longer than Content-Length says')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return refusedRequest('the path cannot be decoded', 'path: the percent-encoding is wrong, or a part is too long')
    default:
      return error
  }
}

const ONCE = new Set(['host', 'authorization', 'idempotency-key'])

/**
 * The answer to a request whose headers are ambiguous or demand what the server does not do; null: there is none. A proxy
 * and a server may disagree on which of two headers counts (RFC 9112, 3.2; RFC 9110, 10.1.1).
 */
export function headerFault({ headers, rawHeaders, httpVersion }: IncomingMessage): Answer | null {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name))
      return answerTo(refusedRequest(`send the header ${name} once`, `${name}: the header is repeated`))
    seen.add(name)
  }
  if (headers.host === undefined && httpVersion !== '1.0')
    return answerTo(refusedRequest('the request needs a Host header', 'host: is missing'))
  if (headers.expect === undefined || headers.expect.toLowerCase() === '100-continue') return null
  const fault = refusedRequest('leave the Expect header out, or send 100-continue', 'expect: is not supported')
  return { ...answerTo(fault), status: 417 }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}

/** The answer to an error outside the pipeline. */
export function answerTo(error: unknown): Answer {
  const { status, envelope, retryAfterSeconds } = failureOf(error)
  return { status, text: JSON.stringify(envelope), error: envelope, retryAfterSeconds }
}

/** Status and body of the answer to bytes that are not an HTTP request; `code` is that of Node's error. */
export function unreadable(code: string | undefined): { status: number; reason: string; envelope: ErrorEnvelope } {
  const [status, reason, message] =
    code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', 'the headers of the request are too large']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', 'the request took too long to arrive']
        : [API_ERRORS.invalid_request.status, 'Bad Request', 'the bytes are not an HTTP request']
  return { status, reason, envelope: envelopeOf('invalid_request', message) }
}
