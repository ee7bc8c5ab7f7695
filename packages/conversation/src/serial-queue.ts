/** Runs tasks one at a time: a task that is enqueued while another runs starts after it. */
export class SerialQueue {
  readonly #onQuiet: () => void
  readonly #queue: (() => void)[] = []
  #isDealing = false
  #isHeld = false

  /** `onQuiet` is called each time the queue is empty. */
  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet
  }

  /** Runs the task at once, unless another runs or the queue is held. */
  enqueue(task: () => void): void {
    this.#queue.push(task)
    this.#deal()
  }

  /** Pauses the queue. The returned function resumes it and runs its argument first. */
  hold(): (first: () => void) => void {
    this.#isHeld = true
    return first => {
      this.#isHeld = false
      this.#queue.unshift(first)
      this.#deal()
    }
  }

  #deal(): void {
    if (this.#isDealing) return
    this.#isDealing = true
    try {
      while (!this.#isHeld && this.#queue.length > 0) this.#queue.shift()!()
    } finally {
      this.#isDealing = false
    }
    if (!this.#isHeld) this.#onQuiet()
  }
}
