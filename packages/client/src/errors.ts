import type { Diagnostic, ErrorEnvelope, Issue } from './api.ts'

/** The failed request. */
export interface Failure {
  /** The id of the operation, such as `agents.create`. */
  readonly operation: string
  /** Number of attempts. If more than 1, an earlier one may have succeeded although its response was lost. */
  readonly attempts: number
  /** The idempotency key: a request with the same key is a retry of this one. Null: the operation has none. */
  readonly idempotencyKey: string | null
}

interface ApiFailure extends Failure {
  readonly envelope: ErrorEnvelope
  readonly status: number
  readonly requestId: string | null
  readonly retryAfterMs: number | null
}

/** The API refused the request. `code` and `reason` are stable; the message is for people. */
export class ParleyApiError extends Error implements Failure {
  readonly envelope: ErrorEnvelope
  /** A newer server may send codes that this type does not have. */
  readonly code: ErrorEnvelope['error']['code']
  /** `details.reason`; null if the error has none. */
  readonly reason: string | null
  readonly retryable: boolean
  /** `unknown`: the operation may have been executed; a retry with the same key returns its result. */
  readonly outcome: 'none' | 'unknown'
  readonly status: number
  /** The id of the request in the server's log. */
  readonly requestId: string | null
  /** `Retry-After` of the response in ms; null: absent. */
  readonly retryAfterMs: number | null
  readonly operation: string
  readonly attempts: number
  readonly idempotencyKey: string | null

  constructor(failure: ApiFailure) {
    const { error } = failure.envelope
    super(error.message)
    this.name = 'ParleyApiError'
    this.envelope = failure.envelope
    this.code = error.code
    const reason = error.details?.reason
    this.reason = typeof reason === 'string' ? reason : null
    this.retryable = error.retryable
    this.outcome = error.outcome
    this.status = failure.status
    this.requestId = failure.requestId
    this.retryAfterMs = failure.retryAfterMs
    this.operation = failure.operation
    this.attempts = failure.attempts
    this.idempotencyKey = failure.idempotencyKey
  }

  /** The faults of the request, each with a JSON pointer; empty unless the code is `invalid_request`. */
  get issues(): readonly Issue[] {
    return (listIn(this.envelope, 'issues') as unknown[]).filter(hasText('path', 'message')) as Issue[]
  }

  /** The errors of the draft or import; empty unless the code is `publication_invalid`. */
  get diagnostics(): readonly Diagnostic[] {
    return (listIn(this.envelope, 'diagnostics') as unknown[]).filter(
      hasText('code', 'path', 'message', 'severity'),
    ) as Diagnostic[]
  }
}

/**
 * `connection_failed`: no response, or an incomplete one; `timeout`: no response in time; `unexpected_answer`: a response
 * that is not from the API, such as a proxy's page or a redirect.
 */
export type ConnectionErrorCode = 'connection_failed' | 'timeout' | 'unexpected_answer'

interface ConnectionFailure extends Failure {
  readonly status: number | null
  readonly retryAfterMs: number | null
  readonly cause?: unknown
}

/** No response of the API came: it is unknown whether the request was executed. */
export class ParleyConnectionError extends Error implements Failure {
  readonly code: ConnectionErrorCode
  readonly retryable = true
  /** HTTP status of an unexpected response; null: no response. */
  readonly status: number | null
  readonly retryAfterMs: number | null
  readonly operation: string
  readonly attempts: number
  readonly idempotencyKey: string | null

  constructor(code: ConnectionErrorCode, message: string, failure: ConnectionFailure) {
    super(message, failure.cause === undefined ? undefined : { cause: failure.cause })
    this.name = 'ParleyConnectionError'
    this.code = code
    this.status = failure.status
    this.retryAfterMs = failure.retryAfterMs
    this.operation = failure.operation
    this.attempts = failure.attempts
    this.idempotencyKey = failure.idempotencyKey
  }
}

function listIn({ error }: ErrorEnvelope, name: string): readonly unknown[] {
  const list = error.details?.[name]
  return Array.isArray(list) ? list : []
}

function hasText(...names: string[]) {
  return (item: unknown) =>
    typeof item === 'object' &&
    item !== null &&
    names.every(name => typeof (item as Record<string, unknown>)[name] === 'string')
}
