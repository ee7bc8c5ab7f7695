import type { Time, Timer } from './time.ts'
import type { Ms } from './units.ts'

interface Entry extends Timer {
  readonly deadline: Ms
  readonly order: number
  readonly callback: () => void
  armed: boolean
}

/** More timers at one instant mean that a machine arms itself for "now" in an endless loop. */
const MAX_FIRED_AT_ONE_INSTANT = 1_000_000

/** A clock that moves only when `advance` is called. Timers fire in order of deadline, then of creation. */
export class VirtualTime implements Time {
  #now: Ms
  #order = 0
  /** A binary heap, the earliest first. Cancelled entries stay until they reach the top or outnumber the armed ones. */
  #heap: Entry[] = []
  #cancelled = 0

  constructor(start: Ms = 0) {
    this.#now = start
  }

  now(): Ms {
    return this.#now
  }

  at(deadline: Ms, callback: () => void): Timer {
    if (Number.isNaN(deadline)) throw new RangeError('a deadline is a number of milliseconds, not NaN')
    const entry: Entry = {
      deadline: Math.max(deadline, this.#now),
      order: this.#order++,
      callback,
      armed: true,
      cancel: () => {
        if (!entry.armed) return
        entry.armed = false
        this.#cancelled++
        if (this.#cancelled > 64 && this.#cancelled > this.#heap.length / 2) this.#dropCancelled()
      },
    }
    this.#push(entry)
    return entry
  }

  /** Advances by `ms`, firing every timer that falls due on the way at its own deadline. */
  advance(ms: Ms): void {
    this.advanceTo(this.#now + ms)
  }

  /**
   * Advances to `instant`; an instant in the past fires the due timers and does not move the clock. Throws when timers at
   * one instant arm themselves again without end.
   */
  advanceTo(instant: Ms): void {
    let firedNow = 0
    for (;;) {
      const next = this.#earliest()
      if (next === undefined || next.deadline > Math.max(instant, this.#now)) break
      this.#pop()
      next.armed = false
      firedNow = next.deadline > this.#now ? 1 : firedNow + 1
      if (firedNow > MAX_FIRED_AT_ONE_INSTANT)
        throw new Error(
          `virtual time does not advance at ${this.#now} ms: timers keep arming themselves for this instant`,
        )
      this.#now = next.deadline
      next.callback()
    }
    this.#now = Math.max(this.#now, instant)
  }

  /** When the next timer fires; undefined when none is armed. */
  nextDeadline(): Ms | undefined {
    return this.#earliest()?.deadline
  }

  #earliest(): Entry | undefined {
    while (this.#heap.length > 0 && !this.#heap[0]!.armed) {
      this.#pop()
      this.#cancelled--
    }
    return this.#heap[0]
  }

  #dropCancelled(): void {
    const armed = this.#heap.filter(entry => entry.armed)
    // A sorted array is a heap.
    this.#heap = armed.sort((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#cancelled = 0
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(entry)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(entry, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.deadline < b.deadline || (a.deadline === b.deadline && a.order < b.order)
}
