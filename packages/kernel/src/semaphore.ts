/** Bounds the tasks that wait for a permit. */
interface WaitingLimit {
  readonly maxWaiting: number
  /** The error of a task beyond `maxWaiting`. */
  readonly refuse: () => Error
}

/** Lets at most `permits` tasks run at once. Others wait, first come first served, without bound unless `limit` is given. */
export class Semaphore {
  #free: number
  readonly #limit: WaitingLimit | null
  readonly #waiting: (() => void)[] = []

  constructor(permits: number, limit: WaitingLimit | null = null) {
    this.#free = permits
    this.#limit = limit
  }

  /** Runs the task with a permit; at once, in the same tick, where one is free. Rejects where the task does, or with `refuse()`. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(null)
    try {
      return await task()
    } finally {
      this.release()
    }
  }

  /**
   * Resolves true with a permit, which `release` gives back, or false when `signal` aborted first. Rejects with `refuse()` when
   * too many wait.
   */
  async acquire(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#free === 0) return this.#wait(signal)
    this.#free -= 1
    return true
  }

  release(): void {
    // The permit goes straight to the longest waiting task, so that no other can take it in between.
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }

  #wait(signal: AbortSignal | null): Promise<boolean> {
    if (this.#limit !== null && this.#waiting.length >= this.#limit.maxWaiting)
      return Promise.reject(this.#limit.refuse())
    return new Promise(resolve => {
      const onTurn = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve(true)
      }
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(onTurn), 1)
        resolve(false)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(onTurn)
    })
  }
}
