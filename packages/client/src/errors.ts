import type { Diagnostic, ErrorEnvelope, Issue } from './api.ts'

/** What is known of the request that failed. */
export interface Failure {
  /** The operation: `agents.create`. */
  readonly operation: string
  /** How often it was sent. With more than 1 an earlier one may have been carried out although its answer was lost. */
  readonly attempts: number
  /** With which another try counts as the same request; null: the operation takes none. */
  readonly idempotencyKey: string | null
}

interface ApiFailure extends Failure {
  readonly envelope: ErrorEnvelope
  readonly status: number
  readonly requestId: string | null
  readonly retryAfterMs: number | null
}

/** The API refused. `code` and `reason` are stable, the message is for people. */
export class ParleyApiError extends Error implements Failure {
  readonly envelope: ErrorEnvelope
  readonly code: string
  /** `details.reason`, where the code has reasons. */
  readonly reason: string | null
  readonly retryable: boolean
  /** `unknown`: it may have been carried out; another try with the same key tells. */
  readonly outcome: 'none' | 'unknown'
  readonly status: number
  /** By which the server's log knows the request. */
  readonly requestId: string | null
  /** How long the server asks to wait, in ms; null: it does not say. */
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

  /** What is wrong in the request, by JSON pointer into it; empty but for `invalid_request`. */
  get issues(): readonly Issue[] {
    return (listIn(this.envelope, 'issues') as unknown[]).filter(hasText('path', 'message')) as Issue[]
  }

  /** What is wrong in the draft or import; empty but for `publication_invalid`. */
  get diagnostics(): readonly Diagnostic[] {
    return (listIn(this.envelope, 'diagnostics') as unknown[]).filter(
      hasText('code', 'path', 'message', 'severity'),
    ) as Diagnostic[]
  }
}

/**
 * `connection_failed`: no answer, or one that broke off; `timeout`: none in time; `unexpected_answer`: something that is
 * no answer of the API, such as a proxy's page or a redirect.
 */
export type ConnectionErrorCode = 'connection_failed' | 'timeout' | 'unexpected_answer'

interface ConnectionFailure extends Failure {
  readonly status: number | null
  readonly retryAfterMs: number | null
  readonly cause?: unknown
}

/** No answer of the API came: whether the request was carried out is not known. */
export class ParleyConnectionError extends Error implements Failure {
  readonly code: ConnectionErrorCode
  readonly retryable = true
  /** Of an unexpected answer; null: there was none. */
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
