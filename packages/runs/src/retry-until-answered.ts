import { type Ms, ParleyError, type Time } from '@parley/kernel'

const FIRST_PAUSE_MS: Ms = 250
const LONGEST_PAUSE_MS: Ms = 2000

/**
 * Asks the database until it answers, with pauses while it is away. `ask` does no harm when it is done twice: where it is
 * not known whether a commit stands, it is. Undefined: nobody waits for the answer any more. Throws what another try
 * would not change.
 */
export async function retryUntilAnswered<Answer>(
  time: Time,
  isOver: () => boolean,
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> {
  for (let pause = FIRST_PAUSE_MS; !isOver(); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await ask()
    } catch (error) {
      if (!isTransient(error)) throw error
    }
    await new Promise<void>(resolve => void time.at(time.now() + pause, resolve))
  }
  return undefined
}

/** Whether the database is away, or was before it said whether a commit stands: another try may find it there. */
export function isTransient(error: unknown): boolean {
  return error instanceof ParleyError && (error.retryable || error.code === 'outcome_unknown')
}

/** The store says that the run is not ours. It may be, once its lease is renewed; else whoever has it is told so. */
export function ownershipUnconfirmed(): ParleyError {
  return new ParleyError('run_lost', 'the run is in other hands, or its lease is to be renewed', { retryable: true })
}
