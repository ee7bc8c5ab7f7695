import type { AnswerOf, ErrorEnvelope, Operation } from '@parley/contract'
import { ApiError } from '../errors.ts'
import { heldTo, LargeAnswer } from '../reading/large-answer.ts'
import type { Route } from './route.ts'

/** What a request comes to: a status and the JSON text of its body. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** Of answers of 4xx and 5xx; null for all others. */
  readonly error: ErrorEnvelope | null
  /** Seconds for the header Retry-After; null: none. */
  readonly retryAfterSeconds: number | null
}

export function done(status: number, text: string): Answer {
  return { status, text, error: null, retryAfterSeconds: null }
}

/** An answer of 2xx. */
export interface Finished {
  readonly status: number
  readonly text: string
}

/** The handler's answer as text, after the operation's own schema took it. Throws `answer_broken`, which callers see as `internal`. */
export function finished({ operation }: Route, { status, body }: AnswerOf<Operation>): Finished {
  if (!operation.statuses.includes(status))
    throw new ApiError('answer_broken', `${operation.id} answered with a status that it does not declare`)
  if (body instanceof LargeAnswer) return { status, text: body.text() }
  return { status, text: JSON.stringify(heldTo(operation.output, operation.id, body)) }
}

/** The answer to a replay, word for word: what was created then is only shown now. */
export function replayed(status: number, text: string): Finished {
  return { status: status === 201 ? 200 : status, text }
}
