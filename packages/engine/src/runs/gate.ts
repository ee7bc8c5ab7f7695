/** Lets a bounded number of things happen at once, the others wait their turn. */
export class Gate {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #passing = 0

  constructor(most: number) {
    this.#most = most
  }

  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#passing >= this.#most) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else this.#passing++
    try {
      return await work()
    } finally {
      // Whoever is next takes the place over.
      const next = this.#waiting.shift()
      if (next === undefined) this.#passing--
      else next()
    }
  }
}
