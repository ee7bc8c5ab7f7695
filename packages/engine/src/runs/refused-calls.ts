import type { Ms, Time } from '@parley/kernel'

interface RefusedCallsOptions {
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/** Notes a second, of all trunks: whoever is refused for want of room is not to cost what there is no room for. */
const A_SECOND = 5
const MOST_AT_ONCE = 4
/** Calls that are known by their id: an INVITE that is refused without state comes again until it has its answer. */
const REMEMBERED = 1000
const TOLD_EVERY_MS: Ms = 60_000

/** Which of the calls that are refused unseen (an engine that is full, or drains) leave a note: each once, so many a second. */
export class RefusedCalls {
  readonly #options: RefusedCallsOptions
  readonly #known = new Set<string>()
  #underWay = 0
  #nextAt: Ms = Number.NEGATIVE_INFINITY
  #unnoted = 0
  #toldAt: Ms = Number.NEGATIVE_INFINITY

  constructor(options: RefusedCallsOptions) {
    this.#options = options
  }

  /** Returns at once; `note` may reject. Those that leave none are counted, and told once a minute. */
  note(callId: string, note: () => Promise<void>): void {
    if (this.#known.has(callId)) return
    this.#remember(callId)
    const { time, onProblem } = this.#options
    const now = time.now()
    if (this.#underWay >= MOST_AT_ONCE || now < this.#nextAt) return this.#pass(now)
    this.#nextAt = now + 1000 / A_SECOND
    this.#underWay++
    void note()
      .catch(error => onProblem('a refused call leaves no run', error))
      .finally(() => this.#underWay--)
  }

  #remember(callId: string): void {
    this.#known.add(callId)
    if (this.#known.size <= REMEMBERED) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      return
    }
  }

  #pass(now: Ms): void {
    this.#unnoted++
    if (now < this.#toldAt + TOLD_EVERY_MS) return
    this.#toldAt = now
    const calls = this.#unnoted === 1 ? 'one more call was' : `${this.#unnoted} more calls were`
    this.#options.onProblem(`${calls} refused than leave a run (${A_SECOND} a second do)`, null)
    this.#unnoted = 0
  }
}
