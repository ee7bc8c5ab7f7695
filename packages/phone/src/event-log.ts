/** So many are forgotten at once. */
const FORGET = 1000

/** The newest events of a call, numbered from 0 on in the order they came. */
export class EventLog<Event> {
  readonly #most: number
  readonly #events: Event[] = []
  #forgotten = 0

  /** Remembers at least the newest `most`. */
  constructor(most: number) {
    this.#most = most
  }

  /** All that are remembered, the oldest first; it grows with the log. */
  get events(): readonly Event[] {
    return this.#events
  }

  /** Number of the next event. */
  get next(): number {
    return this.#forgotten + this.#events.length
  }

  push(event: Event): void {
    this.#events.push(event)
    if (this.#events.length < this.#most + FORGET) return
    this.#events.splice(0, FORGET)
    this.#forgotten += FORGET
  }

  /** Those with number `from` and on that are remembered. */
  since(from: number): readonly Event[] {
    return this.#events.slice(Math.max(0, from - this.#forgotten))
  }
}
