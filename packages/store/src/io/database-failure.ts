import { ParleyError } from '@parley/kernel'
import { DatabaseError } from 'pg'
import { StoreError } from '../errors.ts'

/** serialization_failure, deadlock_detected: the same transaction may pass next time. */
const AGAIN = new Set(['40001', '40P01'])
/** The server stops, starts or has no free connection: class 57P0x, too_many_connections, and class 08. */
const UNAVAILABLE = /^(57P0[1-5]|53300|08...)$/
/** query_canceled: a statement exceeded its time limit. */
const CANCELLED = '57014'

export function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof DatabaseError && AGAIN.has(error.code ?? '')
}

/** Whether Postgres responded with an error, so that the connection still works. */
export function isAnswer(error: unknown): boolean {
  return error instanceof DatabaseError && !UNAVAILABLE.test(error.code ?? '')
}

/** A prepared statement whose table has changed since. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '0A000' && /cached plan/.test(error.message)
}

/** Nothing was changed: there was no connection, or it was lost before COMMIT was sent. */
export function unavailable(cause: unknown): ParleyError {
  if (cause instanceof ParleyError) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StoreError('database_unavailable', `the database cannot be reached: ${reason}`, { cause })
}

/** The error of a failed statement for its caller: an error response of Postgres unchanged, everything else `database_unavailable`. */
export function failureOf(error: unknown): unknown {
  if (error instanceof DatabaseError && error.code === CANCELLED)
    return new StoreError('database_timeout', 'a statement exceeded its time limit', { cause: error })
  return isAnswer(error) ? error : unavailable(error)
}

export function outcomeUnknown(cause: unknown): ParleyError {
  return new StoreError(
    'outcome_unknown',
    'the connection to the database was lost during the commit: the change may or may not be stored',
    { cause },
  )
}
