import { ApiError } from '../errors.ts'

/**
 * Runs long work outside a transaction: rolls the transaction back, does the work without connection or locks, and runs
 * the transaction again, in which the same call returns the result. `about` identifies the inputs of the work: when it
 * differs in the next attempt, the work is done again.
 */
export type Offload = <Outcome>(about: string, work: () => Promise<Outcome>) => Promise<Outcome>

/** How often work is offloaded before the request fails because its inputs keep changing. */
const MAX_OFFLOADS = 4

class OffloadRequest extends Error {
  readonly about: string
  readonly work: () => Promise<unknown>

  constructor(about: string, work: () => Promise<unknown>) {
    super('a transaction was rolled back to run long work: catch this with withOffloading')
    this.about = about
    this.work = work
  }
}

/**
 * Runs `attempt` until it needs no more offloaded work. Rejects with the errors of both, and with `always_outdated`
 * (retryable, nothing was changed) when the inputs of the work changed in every attempt.
 */
export async function withOffloading<Result>(attempt: (offload: Offload) => Promise<Result>): Promise<Result> {
  const done = new Map<string, unknown>()
  const offload = async <Outcome>(about: string, work: () => Promise<Outcome>) => {
    if (done.has(about)) return done.get(about) as Outcome
    throw new OffloadRequest(about, work)
  }
  for (let round = 0; round <= MAX_OFFLOADS; round++)
    try {
      return await attempt(offload)
    } catch (error) {
      if (!(error instanceof OffloadRequest)) throw error
      if (round < MAX_OFFLOADS) done.set(error.about, await error.work())
    }
  throw new ApiError(
    'always_outdated',
    'the data that this change depends on changed in every attempt: repeat the request',
  )
}
