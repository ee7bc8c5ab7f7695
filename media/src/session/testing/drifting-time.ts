import type { Ms, Time, Timer } from '@parley/kernel'

/** One machine's clock over true time: it runs at its own rate, and the machine can stand still for a while. */
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
      // A machine that stands still does what was due when it goes on, in order.
      if (this.#true.now() >= this.#stalledUntil) callback()
      else inner.timer = this.#true.at(this.#stalledUntil, run)
    }
    return { cancel: () => inner.timer.cancel() }
  }

  /** From now on nothing happens on this machine for `ms` of true time. */
  stall(ms: Ms): void {
    this.#stalledUntil = this.#true.now() + ms
  }

  /** Runs `work` now, or when this machine goes on. */
  whenRunning(work: () => void): void {
    if (this.#true.now() >= this.#stalledUntil) work()
    else this.#true.at(this.#stalledUntil, () => this.whenRunning(work))
  }

  /** True time of a moment of this clock. */
  trueTime(local: Ms): Ms {
    return local / this.#rate
  }
}
