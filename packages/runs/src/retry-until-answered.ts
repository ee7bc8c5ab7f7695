import { type Ms, ParleyError, type Time } from '@parley/kernel'
import { StoreError } from '@parley/store'
import { RunsError } from './errors.ts'

const FIRST_PAUSE_MS: Ms = 250
const LONGEST_PAUSE_MS: Ms = 2000

/**
 * Retries a query while the database is away, with pauses. `query` must be idempotent: after a commit with an unknown outcome
 * it runs again. Undefined: `isOver` became true. Throws errors that a retry would not change.
 */
export async function retryUntilAnswered<Answer>(
  time: Time,
  isOver: () => boolean,
  query: () => Promise<Answer>,
): Promise<Answer | undefined> {
  for (let pause = FIRST_PAUSE_MS; !isOver(); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await query()
    } catch (error) {
      if (!isTransient(error)) throw error
    }
    await new Promise<void>(resolve => void time.at(time.now() + pause, resolve))
  }
  return undefined
}

/** Whether the database was away, or went away while committing: a retry may succeed. */
export function isTransient(error: unknown): boolean {
  return (error instanceof ParleyError && error.retryable) || StoreError.is(error, 'outcome_unknown')
}

/** The store refused a write: the run is lost, or its lease ended and can be renewed. A retry shows which. */
export function ownershipUnconfirmed(): ParleyError {
  return new RunsError('run_lost', 'another process owns the run, or its lease ended; renew the lease and try again', {
    retryable: true,
  })
}
