import type { Time, Timer } from '@parley/kernel'

/** Something with queued events. */
export interface EventSource {
  /** Delivers the oldest event; false if the queue is empty. */
  tellOne(): boolean
}

/**
 * Events are delivered after the transport input or timer that caused them has been handled, and after a command has
 * returned: listeners always find a settled state, and never run inside one of their own commands.
 */
export class EventDispatcher {
  readonly #time: Time
  readonly #onError: (error: unknown) => void
  /** In the order in which they were marked; one that is marked again has its events delivered at its first turn. */
  readonly #waiting: EventSource[] = []
  #depth = 0
  #telling = false
  #timer: Timer | undefined
  /** The clock of all parts of the user agent: its timers are handled like transport inputs. */
  readonly time: Time

  constructor(time: Time, onError: (error: unknown) => void) {
    this.#time = time
    this.#onError = onError
    this.time = {
      now: () => time.now(),
      at: (deadline, callback) => time.at(deadline, () => this.run(callback)),
    }
  }

  /** Runs `work`. An exception is a bug of ours or of a listener: it goes to `onError` and is never rethrown. */
  run(work: () => void): void {
    this.#depth++
    try {
      work()
    } catch (error) {
      this.#onError(error)
    }
    this.#depth--
    this.#tell()
  }

  /** Queues `source`, which has events to deliver. */
  mark(source: EventSource): void {
    this.#waiting.push(source)
    if (this.#depth > 0 || this.#telling || this.#timer !== undefined) return
    this.#timer = this.#time.at(this.#time.now(), () => {
      this.#timer = undefined
      this.#tell()
    })
  }

  #tell(): void {
    if (this.#depth > 0 || this.#telling) return
    this.#telling = true
    for (const source of this.#waiting) {
      // A source that queues new events meanwhile is marked again, and visited again.
      try {
        while (source.tellOne());
      } catch (error) {
        this.#onError(error)
        this.#waiting.push(source)
      }
    }
    this.#waiting.length = 0
    this.#telling = false
  }
}
