import type { Time, Timer } from '@parley/kernel'

/** Something with events that wait to be told. */
export interface EventSource {
  /** Tells the oldest event; false when nothing waits. */
  tellOne(): boolean
}

/**
 * Events are told after the transport input or timer that caused them has been worked off, and after a command has
 * returned: listeners always find a settled state, and never run inside one of their own commands.
 */
export class EventDispatcher {
  readonly #time: Time
  readonly #onError: (error: unknown) => void
  readonly #waiting = new Set<EventSource>()
  #depth = 0
  #telling = false
  #timer: Timer | undefined
  /** The time that everything of the user agent runs on: its timers are worked off like transport inputs. */
  readonly time: Time

  constructor(time: Time, onError: (error: unknown) => void) {
    this.#time = time
    this.#onError = onError
    this.time = {
      now: () => time.now(),
      at: (deadline, callback) => time.at(deadline, () => this.run(callback)),
    }
  }

  /** Works something off. An exception is a bug of ours or of a listener: told to `onError`, never thrown on. */
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

  /** `source` has something to tell. */
  mark(source: EventSource): void {
    this.#waiting.add(source)
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
      // A source that gets something new to tell meanwhile is visited again: it is put at the end of the set.
      this.#waiting.delete(source)
      try {
        while (source.tellOne());
      } catch (error) {
        this.#onError(error)
        this.#waiting.add(source)
      }
    }
    this.#telling = false
  }
}
