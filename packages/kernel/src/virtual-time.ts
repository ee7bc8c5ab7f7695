import type { Time, Timer } from './time.ts'
import type { Ms } from './units.ts'

interface Entry extends Timer {
  readonly deadline: Ms
  readonly order: number
  readonly callback: () => void
  cancelled: boolean
}

/** Time that moves only when told to. Timers fire in order of deadline, then of creation. */
export class VirtualTime implements Time {
  #now: Ms
  #order = 0
  #entries: Entry[] = []

  constructor(start: Ms = 0) {
    this.#now = start
  }

  now(): Ms {
    return this.#now
  }

  at(deadline: Ms, callback: () => void): Timer {
    const entry: Entry = {
      deadline: Math.max(deadline, this.#now),
      order: this.#order++,
      callback,
      cancelled: false,
      cancel() {
        entry.cancelled = true
      },
    }
    // Insertion from the back: timers are mostly created in order of their deadline.
    let i = this.#entries.length
    while (i > 0 && this.#entries[i - 1]!.deadline > entry.deadline) i--
    this.#entries.splice(i, 0, entry)
    return entry
  }

  /** Advances by `ms`, firing every timer that falls due on the way at its own deadline. */
  advance(ms: Ms): void {
    this.advanceTo(this.#now + ms)
  }

  /** Advances to `instant`; an instant in the past fires what is due now and moves nothing. */
  advanceTo(instant: Ms): void {
    for (;;) {
      const next = this.#entries[0]
      if (next === undefined || next.deadline > instant) break
      this.#entries.shift()
      if (next.cancelled) continue
      this.#now = Math.max(this.#now, next.deadline)
      next.callback()
    }
    this.#now = Math.max(this.#now, instant)
  }

  /** When the next timer fires; undefined when none is armed. */
  nextDeadline(): Ms | undefined {
    return this.#entries.find(entry => !entry.cancelled)?.deadline
  }
}
