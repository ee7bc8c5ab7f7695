import type { AnswerOf, ErrorEnvelope, Operation } from '@parley/contract'
import { ApiError } from '../errors.ts'
import { LargeAnswer, validated } from '../reading/large-answer.ts'
import type { Route } from './route.ts'

/** The answer to a request: a status and the JSON text of its body. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** The error envelope of a 4xx or 5xx answer; null for others. */
  readonly error: ErrorEnvelope | null
  /** Seconds for the header Retry-After; null: none. */
  readonly retryAfterSeconds: number | null
  /** The trace of the run that the request is about; absent: of none. */
  readonly traceId?: string
}

export function successAnswer(status: number, text: string, traceId?: string): Answer {
  return { status, text, error: null, retryAfterSeconds: null, ...(traceId !== undefined && { traceId }) }
}

/** A 2xx answer whose body matches the schema of its operation. */
export interface CheckedAnswer {
  readonly status: number
  readonly text: string
}

/** Checks a handler's answer against the operation's schema and serialises it. Throws `answer_broken`, which clients see as `internal`. */
export function checkedAnswer({ operation }: Route, { status, body }: AnswerOf<Operation>): CheckedAnswer {
  if (!operation.statuses.includes(status))
    throw new ApiError('answer_broken', `${operation.id} answered with the status ${status}, which it does not declare`)
  if (body instanceof LargeAnswer) return { status, text: body.text() }
  return { status, text: JSON.stringify(validated(operation.output, operation.id, body)) }
}

/** The stored answer to a repeated request, unchanged except that 201 becomes 200. */
export function replayedAnswer(status: number, text: string): CheckedAnswer {
  return { status: status === 201 ? 200 : status, text }
}
