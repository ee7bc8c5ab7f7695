import type { Ms, ParleyError, Time } from '@parley/kernel'
import { PhoneError } from './errors.ts'

interface Wait {
  readonly check: () => void
  readonly reject: (error: ParleyError) => void
  readonly describeMiss: () => string
}

/** Pending waits on one call. `check` tests their conditions again; `end` rejects those that are still pending. */
export class Waits {
  readonly #time: Time
  readonly #waits = new Set<Wait>()
  /** Why the call ended; null while it lasts. */
  #endReason: string | null = null

  constructor(time: Time) {
    this.#time = time
  }

  /** Whether a wait is pending. */
  get any(): boolean {
    return this.#waits.size > 0
  }

  /** Why the call ended; null while it lasts. */
  get endReason(): string | null {
    return this.#endReason
  }

  /**
   * Resolves with the first result of `find` that is not null. Throws "wait_timeout" after `timeoutMs`, "call_ended" when
   * the call ends first, and what `find` throws. `describeMiss` is the error text for a condition that did not come true.
   */
  async until<Found>(find: () => Found | null, timeoutMs: Ms, describeMiss: () => string): Promise<Found> {
    const found = find()
    if (found !== null) return found
    if (this.#endReason !== null) throw endedBefore(describeMiss(), this.#endReason)
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
      reject: error => outcome.reject(error),
      describeMiss,
    }
    const timer = this.#time.at(this.#time.now() + timeoutMs, () =>
      wait.reject(new PhoneError('wait_timeout', `${describeMiss()} within ${timeoutMs} ms`)),
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

  /** Rejects pending and later waits with "call_ended"; `why` is part of the error text. */
  end(why: string): void {
    this.#endReason = why
    this.check()
    for (const wait of [...this.#waits]) wait.reject(endedBefore(wait.describeMiss(), why))
  }
}

function endedBefore(miss: string, why: string): ParleyError {
  return new PhoneError('call_ended', `the call ended first (${why}): ${miss}`)
}
