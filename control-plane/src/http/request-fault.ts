import { API_ERRORS, type ErrorEnvelope, envelopeOf, Refusal } from '@parley/contract'
import type { Answer } from '../pipeline/answer.ts'
import { failureOf } from '../pipeline/failure.ts'

/** A request that does not get as far as an operation. */
export function refusedRequest(message: string, issue: string): Refusal {
  return new Refusal('invalid_request', message, { details: { issues: [{ path: '', message: issue }] } })
}

const NO_JSON = 'the body is sent as application/json, in UTF-8 and not encoded otherwise'

/** What Fastify found wrong with a request, by its code. Everything else that is thrown stays what it is. */
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
      return refusedRequest('the path cannot be read', 'path: not percent-encoded as it should be, or too long')
    default:
      return error
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}

/** An answer for what no pipeline sees. */
export function answerTo(error: unknown): Answer {
  const { status, envelope, retryAfterSeconds } = failureOf(error)
  return { status, text: JSON.stringify(envelope), error: envelope, retryAfterSeconds }
}

/** The body of what cannot even be read as HTTP, with its status. */
export function unreadable(code: string | undefined): { status: number; reason: string; envelope: ErrorEnvelope } {
  const [status, reason, message] =
    code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', 'the head of the request is too large']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', 'the request took too long to arrive']
        : [API_ERRORS.invalid_request.status, 'Bad Request', 'this is no HTTP request']
  return { status, reason, envelope: envelopeOf('invalid_request', message) }
}
