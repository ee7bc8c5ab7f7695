import { API_ERRORS, type ErrorCode, type ErrorEnvelope, envelopeOf, Refusal } from '@parley/contract'
import { StoreError, type StoreErrorCode } from '@parley/store'

/** The answer to an error. */
interface Failure {
  readonly status: number
  readonly envelope: ErrorEnvelope
  /** Seconds for Retry-After; null: none. */
  readonly retryAfterSeconds: number | null
  /** Whether Parley or its database failed, so that it is logged as an error. */
  readonly unexpected: boolean
}

/** The answers to failures of the store; every other failure is `internal` without details. */
const OF_STORE: { readonly [Code in StoreErrorCode]?: readonly [code: ErrorCode, message: string] } = {
  outcome_unknown: [
    'outcome_unknown',
    'the connection was lost while the change was committed: repeat the request with the same key',
  ],
  // Every operation declares `internal`; `provider_unavailable` is for services that the client may have chosen.
  database_unavailable: ['internal', 'the database does not answer; nothing was changed: try again'],
  database_timeout: ['internal', 'the database does not answer; nothing was changed: try again'],
}

/** The answer to an error that a handler or the pipeline threw; a refusal keeps its own envelope. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refusal) return answered(error.envelope, false)
  const known = StoreError.is(error) ? OF_STORE[error.code] : undefined
  if (known === undefined)
    return answered(
      envelopeOf('internal', 'internal error: the server log has the details under this X-Request-Id'),
      true,
    )
  const [code, message] = known
  const failure = answered(envelopeOf(code, message), true)
  return code === 'internal' ? { ...failure, retryAfterSeconds: 1 } : failure
}

function answered(envelope: ErrorEnvelope, unexpected: boolean): Failure {
  const { code, details, retryable } = envelope.error
  const seconds = details?.retry_after_seconds
  const retryAfterSeconds =
    code === 'rate_limited' && retryable ? (typeof seconds === 'number' ? Math.ceil(seconds) : 1) : null
  return { status: API_ERRORS[code].status, envelope, retryAfterSeconds, unexpected }
}
