/** Runs tasks one at a time: a task that is enqueued while another runs starts after it. */
export class SerialQueue {
  readonly #onEmpty: () => void
  readonly #queue: (() => void)[] = []
  #isDraining = false
  #isPaused = false

  /** `onEmpty` is called each time the queue is empty. */
  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty
  }

  /** Runs the task at once, unless another runs or the queue is paused. */
  enqueue(task: () => void): void {
    this.#queue.push(task)
    this.#drain()
  }

  /** Pauses the queue. The returned function resumes it and runs its argument first. */
  pause(): (first: () => void) => void {
    this.#isPaused = true
    return first => {
      this.#isPaused = false
      this.#queue.unshift(first)
      this.#drain()
    }
  }

  #drain(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    try {
      while (!this.#isPaused && this.#queue.length > 0) this.#queue.shift()!()
    } finally {
      this.#isDraining = false
    }
    if (!this.#isPaused) this.#onEmpty()
  }
}
