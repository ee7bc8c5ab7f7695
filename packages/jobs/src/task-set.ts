/** Tasks that run side by side, at most `size` at once. */
export class TaskSet {
  readonly #size: number
  readonly #tasks = new Set<Promise<void>>()

  constructor(size: number) {
    this.#size = size
  }

  /** How many more may start. */
  get free(): number {
    return this.#size - this.#tasks.size
  }

  /** Starts a task, which must not reject. The caller checks `free` first. */
  start(task: () => Promise<void>): void {
    const done = task().finally(() => this.#tasks.delete(done))
    this.#tasks.add(done)
  }

  /** Resolves when every task that was started has ended. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks)
  }
}
