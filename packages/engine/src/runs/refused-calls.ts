import type { Ms, Time } from '@parley/kernel'

interface RefusedCallsOptions {
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/** For all trunks together: refusing a call must cost less than accepting it. */
const NOTES_PER_SECOND = 5
const MAX_NOTES_AT_ONCE = 4
/** Number of remembered Call-IDs, since an INVITE that is refused statelessly is retransmitted until the response arrives. */
const MAX_KNOWN = 1000
const REPORT_EVERY_MS: Ms = 60_000

/**
 * Limits how many of the calls that a full or draining engine refuses are recorded: each once, five per second, four at once.
 */
export class RefusedCalls {
  readonly #options: RefusedCallsOptions
  readonly #known = new Set<string>()
  #running = 0
  #nextAt: Ms = Number.NEGATIVE_INFINITY
  #skipped = 0
  #reportedAt: Ms = Number.NEGATIVE_INFINITY

  constructor(options: RefusedCallsOptions) {
    this.#options = options
  }

  /** Returns at once; `note` may reject. Calls that are not recorded are counted and reported once a minute. */
  note(callId: string, note: () => Promise<void>): void {
    if (this.#known.has(callId)) return
    this.#remember(callId)
    const { time, onProblem } = this.#options
    const now = time.now()
    if (this.#running >= MAX_NOTES_AT_ONCE || now < this.#nextAt) return this.#skip(now)
    this.#nextAt = now + 1000 / NOTES_PER_SECOND
    this.#running++
    void note()
      .catch(error => onProblem('a refused call leaves no run: it could not be written', error))
      .finally(() => this.#running--)
  }

  #remember(callId: string): void {
    this.#known.add(callId)
    if (this.#known.size <= MAX_KNOWN) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      return
    }
  }

  #skip(now: Ms): void {
    this.#skipped++
    if (now < this.#reportedAt + REPORT_EVERY_MS) return
    this.#reportedAt = now
    const calls = this.#skipped === 1 ? 'one refused call leaves' : `${this.#skipped} refused calls leave`
    this.#options.onProblem(`${calls} no run: at most ${NOTES_PER_SECOND} a second do`, null)
    this.#skipped = 0
  }
}
