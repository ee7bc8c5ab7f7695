import { judgeAt, type Ms, type Samples, type Time, type Timer } from '@parley/kernel'

/** Beyond this number of open requests the oldest is answered at once. */
const MAX_OPEN_REQUESTS = 8
/** Services need not answer when there is nothing to finalize; after this time, speech would have been reported. */
const QUIET_MS: Ms = 700

interface Request {
  /** The request covers all audio before this position. */
  readonly until: Samples
  timer: Timer
}

interface FinalizeRequestsOptions {
  readonly time: Time
  /** Time after which a request is overdue. */
  readonly timeoutMs: Ms
  /** Whether no speech is in progress and the service had time to report it. */
  readonly isQuiet: () => boolean
  /** The oldest request expired without an answer; it is no longer open. */
  readonly onOverdue: () => void
}

/** Open finalize requests, the oldest first. Each is answered once, by the service or by its timeout. */
export class FinalizeRequests {
  readonly #options: FinalizeRequestsOptions
  #open: Request[] = []

  constructor(options: FinalizeRequestsOptions) {
    this.#options = options
  }

  /** The position of the oldest request; null when none is open. */
  get oldest(): Samples | null {
    return this.#open[0]?.until ?? null
  }

  add(until: Samples): void {
    const { time, timeoutMs, isQuiet } = this.#options
    if (this.#open.length >= MAX_OPEN_REQUESTS) this.#expire(this.#open[0]!)
    const requestedAt = time.now()
    const request: Request = {
      until,
      timer: judgeAt(time, requestedAt + Math.min(QUIET_MS, timeoutMs), () => {
        if (isQuiet()) return this.#expire(request)
        request.timer = judgeAt(time, requestedAt + timeoutMs, () => this.#expire(request))
      }),
    }
    this.#open.push(request)
  }

  /** Closes the oldest request and all others up to `covered`; returns their number. */
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

  /** Expires the request and all older ones. */
  #expire(request: Request): void {
    while (this.#open.includes(request)) {
      this.answered(Number.NEGATIVE_INFINITY)
      this.#options.onOverdue()
    }
  }
}
