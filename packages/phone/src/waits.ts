import { type Ms, ParleyError, type Time } from '@parley/kernel'

interface Wait {
  readonly check: () => void
  readonly giveUp: (error: ParleyError) => void
  readonly wanted: () => string
}

/** What is waited for on one call. Whoever changes something calls `check`; at the call's end nobody waits any longer. */
export class Waits {
  readonly #time: Time
  readonly #waits = new Set<Wait>()
  /** Why nothing can come any more. */
  #over: string | null = null

  constructor(time: Time) {
    this.#time = time
  }

  get any(): boolean {
    return this.#waits.size > 0
  }

  /**
   * What `find` returns as soon as that is not null. Throws "wait_timeout" after `timeoutMs`, "call_ended" when the call
   * ends first, and what `find` throws. `wanted` says in an error what was waited for, and what there was instead.
   */
  async until<Found>(find: () => Found | null, timeoutMs: Ms, wanted: () => string): Promise<Found> {
    const found = find()
    if (found !== null) return found
    if (this.#over !== null) throw endedBefore(wanted(), this.#over)
    const outcome = Promise.withResolvers<Found>()
    const wait: Wait = {
      check: () => {
        try {
          const later = find()
          if (later !== null) outcome.resolve(later)
        } catch (error) {
          outcome.reject(error)
        }
      },
      giveUp: error => outcome.reject(error),
      wanted,
    }
    const timer = this.#time.at(this.#time.now() + timeoutMs, () =>
      wait.giveUp(new ParleyError('wait_timeout', `${wanted()} within ${timeoutMs} ms`)),
    )
    this.#waits.add(wait)
    try {
      return await outcome.promise
    } finally {
      timer.cancel()
      this.#waits.delete(wait)
    }
  }

  check(): void {
    for (const wait of [...this.#waits]) wait.check()
  }

  /** Nothing comes any more; `why` says so in the errors of all who still wait. */
  end(why: string): void {
    this.#over = why
    this.check()
    for (const wait of [...this.#waits]) wait.giveUp(endedBefore(wait.wanted(), why))
  }
}

function endedBefore(wanted: string, why: string): ParleyError {
  return new ParleyError('call_ended', `the call ended first (${why}): ${wanted}`)
}
