import type { Ms, Samples, Time, Timer } from '@parley/kernel'

/** More open requests than this are a caller's bug: the oldest is answered at once. */
const MOST = 8

interface Request {
  /** All audio before this was meant. */
  readonly until: Samples
  readonly timer: Timer
}

/** The calls of `finalize` that wait for their answer, oldest first; each is answered once, by the service or by time. */
export class FinalizeRequests {
  readonly #time: Time
  readonly #patienceMs: Ms
  readonly #onOverdue: () => void
  #open: Request[] = []

  /** `onOverdue`: the oldest, which is no longer open, got no answer. */
  constructor(options: { readonly time: Time; readonly patienceMs: Ms }, onOverdue: () => void) {
    this.#time = options.time
    this.#patienceMs = options.patienceMs
    this.#onOverdue = onOverdue
  }

  /** What the oldest is about; null when none is open. */
  get oldest(): Samples | null {
    return this.#open[0]?.until ?? null
  }

  add(until: Samples): void {
    if (this.#open.length >= MOST) this.#expire()
    const timer = this.#time.at(this.#time.now() + this.#patienceMs, () => this.#expire())
    this.#open.push({ until, timer })
  }

  /** The oldest was answered. */
  answered(): void {
    this.#open.shift()?.timer.cancel()
  }

  clear(): void {
    for (const { timer } of this.#open) timer.cancel()
    this.#open = []
  }

  /** Timers run in the order in which the requests came: the one that is due is the oldest. */
  #expire(): void {
    this.answered()
    this.#onOverdue()
  }
}
