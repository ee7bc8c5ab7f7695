import type { Ms, Samples, Time, Timer } from '@parley/kernel'

/** More open requests than this are a caller's bug: the oldest is answered at once. */
const MOST = 8
/** Services need not answer where there is nothing to finalize: what was said would have shown itself by now. */
const QUIET_MS: Ms = 700

interface Request {
  /** All audio before this was meant. */
  readonly until: Samples
  timer: Timer
}

interface FinalizeRequestsOptions {
  readonly time: Time
  /** A request is overdue after so long. */
  readonly patienceMs: Ms
  /** Nobody speaks, as far as the service has told, and it had the time to tell. */
  readonly isQuiet: () => boolean
  /** The oldest, which is no longer open, got no answer. */
  readonly onOverdue: () => void
}

/** The calls of `finalize` that wait for their answer, oldest first; each is answered once, by the service or by time. */
export class FinalizeRequests {
  readonly #options: FinalizeRequestsOptions
  #open: Request[] = []

  constructor(options: FinalizeRequestsOptions) {
    this.#options = options
  }

  /** What the oldest is about; null when none is open. */
  get oldest(): Samples | null {
    return this.#open[0]?.until ?? null
  }

  add(until: Samples): void {
    const { time, patienceMs, isQuiet } = this.#options
    if (this.#open.length >= MOST) this.#expire(this.#open[0]!)
    const askedAt = time.now()
    const request: Request = {
      until,
      timer: time.at(askedAt + Math.min(QUIET_MS, patienceMs), () => {
        if (isQuiet()) return this.#expire(request)
        request.timer = time.at(askedAt + patienceMs, () => this.#expire(request))
      }),
    }
    this.#open.push(request)
  }

  /** The oldest was answered, and all that are about nothing after `covered`; returns how many. */
  answered(covered: Samples): number {
    let count = 0
    do {
      this.#open.shift()?.timer.cancel()
      count++
    } while (this.#open[0] !== undefined && this.#open[0].until <= covered)
    return count
  }

  clear(): void {
    for (const { timer } of this.#open) timer.cancel()
    this.#open = []
  }

  /** That one, and those that are older. */
  #expire(request: Request): void {
    while (this.#open.includes(request)) {
      this.answered(Number.NEGATIVE_INFINITY)
      this.#options.onOverdue()
    }
  }
}
