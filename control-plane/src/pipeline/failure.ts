import { ERROR_STATUS, type ErrorEnvelope, envelopeOf, Refusal } from '@parley/contract'
import { ParleyError } from '@parley/kernel'

/** What a caller is told of something thrown. */
export interface Failure {
  readonly status: number
  readonly envelope: ErrorEnvelope
  /** Seconds for Retry-After; null: none. */
  readonly retryAfterSeconds: number | null
  /** Whether nobody meant it to happen, so that somebody should look. */
  readonly unexpected: boolean
}

/** Nothing happened, and the same request may pass soon: the store says so of these. */
const DATABASE_AWAY: ReadonlySet<string> = new Set(['database_unavailable', 'database_timeout'])

/**
 * Refusals are told as they are. Everything else is `internal` and says nothing of its inside, but for two failures of
 * the database: a commit whose answer was lost is `outcome_unknown`, and a database that is away is `internal`, too
 * (retryable, outcome none, with Retry-After): every operation declares that code, whereas `provider_unavailable` is
 * about services outside, which callers may have chosen themselves.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refusal) return told(error.envelope, false)
  const code = error instanceof ParleyError ? error.code : null
  if (code === 'outcome_unknown') {
    const message = 'the connection was lost while the change was committed: repeat the request with the same key'
    return told(envelopeOf('outcome_unknown', message), true)
  }
  if (code !== null && DATABASE_AWAY.has(code)) {
    const message = 'the database does not answer; nothing was changed: try again'
    return { ...told(envelopeOf('internal', message), true), retryAfterSeconds: 1 }
  }
  return told(envelopeOf('internal', 'an error inside Parley: its log knows more under this X-Request-Id'), true)
}

function told(envelope: ErrorEnvelope, unexpected: boolean): Failure {
  const { code, details } = envelope.error
  const seconds = details?.retry_after_seconds
  const retryAfterSeconds = code === 'rate_limited' ? (typeof seconds === 'number' ? Math.ceil(seconds) : 1) : null
  return { status: ERROR_STATUS[code], envelope, retryAfterSeconds, unexpected }
}
