import { ApiError } from '../errors.ts'

/**
 * Long work that a transaction needs: the transaction is rolled back, the work done with nothing held, and the transaction
 * begun again, where the same call answers what came of it. `about` says what the outcome depends on: where that is
 * another the second time, the work is done once more.
 */
export type Offload = <Outcome>(about: string, work: () => Promise<Outcome>) => Promise<Outcome>

/** How often what the work depends on may change before the request is given up. */
const MOST_ROUNDS = 4

class SetAside extends Error {
  readonly about: string
  readonly work: () => Promise<unknown>

  constructor(about: string, work: () => Promise<unknown>) {
    super('set aside: whoever catches this does the work and begins again')
    this.about = about
    this.work = work
  }
}

/**
 * Runs `attempt` until it needs no more work. Rejects as it and the work do, and with `ParleyError` `always_outdated`
 * (retryable, nothing happened) where what the work depends on changed each time.
 */
export async function withOffloading<Result>(attempt: (aside: Offload) => Promise<Result>): Promise<Result> {
  const done = new Map<string, unknown>()
  const aside = async <Outcome>(about: string, work: () => Promise<Outcome>) => {
    if (done.has(about)) return done.get(about) as Outcome
    throw new SetAside(about, work)
  }
  for (let round = 0; round <= MOST_ROUNDS; round++)
    try {
      return await attempt(aside)
    } catch (error) {
      if (!(error instanceof SetAside)) throw error
      if (round < MOST_ROUNDS) done.set(error.about, await error.work())
    }
  throw new ApiError('always_outdated', 'what a change needs was outdated each time it was there')
}
