import type { Ms, Time } from '@parley/kernel'

/** At most one line about failures is written in this time. */
const QUIET_MS: Ms = 60_000

interface RepeatedFailureLogOptions {
  /** Names the work in the lines, as in `the sweep "webhooks"`. */
  readonly name: string
  readonly time: Time
  /** `error` is null when the work succeeds again. */
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * Logs failures of periodic work without a line for each: the first failure at once, then at most one line a minute with the
 * number of failed rounds, and one line when it succeeds again. Work that fails now and then gives at most one such pair a
 * minute.
 */
export class RepeatedFailureLog {
  readonly #options: RepeatedFailureLogOptions
  /** Failed rounds since the last report of success. */
  #failures = 0
  #brokenSince: Ms | null = null
  #reportedAt: Ms = Number.NEGATIVE_INFINITY
  /** The current failure was reported. */
  #isReported = false

  constructor(options: RepeatedFailureLogOptions) {
    this.#options = options
  }

  /** A round failed. */
  failed(error: unknown): void {
    const { name, time, onProblem } = this.#options
    const now = time.now()
    this.#failures++
    this.#brokenSince ??= now
    if (now - this.#reportedAt < QUIET_MS) return
    this.#reportedAt = now
    this.#isReported = true
    onProblem(this.#failures === 1 ? `${name} failed` : `${name} failed, ${this.#failures} rounds by now`, error)
  }

  /** A round succeeded. */
  worked(): void {
    if (this.#brokenSince === null) return
    const { name, time, onProblem } = this.#options
    const seconds = Math.round((time.now() - this.#brokenSince) / 1000)
    this.#brokenSince = null
    if (!this.#isReported) return
    const rounds = this.#failures === 1 ? '1 failed round' : `${this.#failures} failed rounds`
    this.#isReported = false
    this.#failures = 0
    onProblem(`${name} works again after ${rounds}, ${seconds} s`, null)
  }
}
