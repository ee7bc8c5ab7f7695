import type { Ms, Time, Timer } from '@parley/kernel'

/** One machine's clock relative to true time: it runs at its own rate, and the machine can stall. */
export class DriftingTime implements Time {
  readonly #true: Time
  readonly #rate: number
  #stalledUntil: Ms = Number.NEGATIVE_INFINITY

  /** `ppm`: how much faster than true time it runs. */
  constructor(trueTime: Time, ppm: number) {
    this.#true = trueTime
    this.#rate = 1 + ppm / 1e6
  }

  now(): Ms {
    return this.#true.now() * this.#rate
  }

  at(deadline: Ms, callback: () => void): Timer {
    const inner = { timer: this.#true.at(deadline / this.#rate, () => run()) }
    const run = (): void => {
      // After a stall a machine runs overdue timers, in order.
      if (this.#true.now() >= this.#stalledUntil) callback()
      else inner.timer = this.#true.at(this.#stalledUntil, run)
    }
    return { cancel: () => inner.timer.cancel() }
  }

  /** Stalls this machine for `ms` of true time. */
  stall(ms: Ms): void {
    this.#stalledUntil = this.#true.now() + ms
  }

  /** Runs `work` now, or at the end of the stall. */
  whenRunning(work: () => void): void {
    if (this.#true.now() >= this.#stalledUntil) work()
    else this.#true.at(this.#stalledUntil, () => this.whenRunning(work))
  }

  /** True time of a moment of this clock. */
  trueTime(local: Ms): Ms {
    return local / this.#rate
  }
}
