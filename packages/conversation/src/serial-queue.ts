/** One thing after the other: what is caused while something is dealt with comes after it. */
export class SerialQueue {
  readonly #onQuiet: () => void
  readonly #queue: (() => void)[] = []
  #isDealing = false
  #isHeld = false

  /** `onQuiet`: all that happened is dealt with, for now. */
  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet
  }

  /** At once, unless something else is being dealt with or held up. */
  enqueue(task: () => void): void {
    this.#queue.push(task)
    this.#deal()
  }

  /** Nothing further is dealt with until the returned function is called: with what comes first then. */
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
