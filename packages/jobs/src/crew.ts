/** Jobs that go on side by side, so many at the most. */
export class Crew {
  readonly #size: number
  readonly #jobs = new Set<Promise<void>>()

  constructor(size: number) {
    this.#size = size
  }

  /** How many more may begin. */
  get free(): number {
    return this.#size - this.#jobs.size
  }

  /** Begins `job`, which does not reject. Whether there is room is the caller's to know. */
  begin(job: () => Promise<void>): void {
    const done = job().finally(() => this.#jobs.delete(done))
    this.#jobs.add(done)
  }

  /** Resolves when all that was begun has ended. */
  async idle(): Promise<void> {
    while (this.#jobs.size > 0) await Promise.all(this.#jobs)
  }
}

/** A door that lets so many through at once; others wait in order. */
export class Gate {
  #places: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#places = places
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#places > 0) this.#places--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#places++
      else next()
    }
  }
}
