/** Runs a bounded number of tasks at once; the others wait, in order. */
export class Semaphore {
  readonly #permits: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(permits: number) {
    this.#permits = permits
  }

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#permits) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await task()
    } finally {
      // The next waiting task takes the permit over.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
