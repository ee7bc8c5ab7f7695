import type { Ms, Time } from '@parley/kernel'

/** No more than one line that something fails in so long. */
const QUIET_MS: Ms = 60_000

export interface RepeatedFailureLogOptions {
  /** What goes round, as in "the sweep of webhooks". */
  readonly name: string
  readonly time: Time
  /** `error` is null where it works again. */
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * Tells of work that goes round and round and fails, without a line for each round: the first failure at once, from then
 * on at most one line a minute with the count of failed rounds, and one line when it works again. Where failures come and
 * go there is at most one such pair a minute.
 */
export class RepeatedFailureLog {
  readonly #options: RepeatedFailureLogOptions
  /** Of all that failed since it was last told that it works. */
  #failures = 0
  #brokenSince: Ms | null = null
  #toldAt: Ms = Number.NEGATIVE_INFINITY
  /** Somebody was told that it is broken now. */
  #isTold = false

  constructor(options: RepeatedFailureLogOptions) {
    this.#options = options
  }

  /** A round failed. */
  failed(error: unknown): void {
    const { name, time, onProblem } = this.#options
    const now = time.now()
    this.#failures++
    this.#brokenSince ??= now
    if (now - this.#toldAt < QUIET_MS) return
    this.#toldAt = now
    this.#isTold = true
    onProblem(this.#failures === 1 ? `${name} failed` : `${name} failed, ${this.#failures} rounds by now`, error)
  }

  /** A round did what it is for. */
  worked(): void {
    if (this.#brokenSince === null) return
    const { name, time, onProblem } = this.#options
    const seconds = Math.round((time.now() - this.#brokenSince) / 1000)
    this.#brokenSince = null
    if (!this.#isTold) return
    const rounds = this.#failures === 1 ? '1 failed round' : `${this.#failures} failed rounds`
    this.#isTold = false
    this.#failures = 0
    onProblem(`${name} works again after ${rounds}, ${seconds} s`, null)
  }
}
