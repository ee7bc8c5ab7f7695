/** Number of events that are dropped at a time. */
const DROP_COUNT = 1000

/** The newest events of a call, numbered from 0 in order of arrival. */
export class EventLog<Event> {
  readonly #minimum: number
  readonly #events: Event[] = []
  #dropped = 0

  /** Stores at least the newest `minimum` events. */
  constructor(minimum: number) {
    this.#minimum = minimum
  }

  /** All stored events, oldest first. A live view. */
  get events(): readonly Event[] {
    return this.#events
  }

  /** Number of the next event. */
  get next(): number {
    return this.#dropped + this.#events.length
  }

  push(event: Event): void {
    this.#events.push(event)
    if (this.#events.length < this.#minimum + DROP_COUNT) return
    this.#events.splice(0, DROP_COUNT)
    this.#dropped += DROP_COUNT
  }

  /** Stored events with number `from` or higher. */
  since(from: number): readonly Event[] {
    return this.#events.slice(Math.max(0, from - this.#dropped))
  }
}
