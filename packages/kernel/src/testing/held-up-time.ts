import type { Time, Timer } from '../time.ts'
import type { Ms } from '../units.ts'
import { VirtualTime } from '../virtual-time.ts'

/** Virtual time of a process that can be held up: timers that fall due meanwhile fire at its end. */
export class HeldUpTime implements Time {
  readonly #time = new VirtualTime()
  #until: Ms | null = null

  now(): Ms {
    return this.#until ?? this.#time.now()
  }

  at(deadline: Ms, callback: () => void): Timer {
    return this.#time.at(deadline, callback)
  }

  advance(ms: Ms): void {
    this.#time.advance(ms)
  }

  holdUp(ms: Ms): void {
    this.#until = this.#time.now() + ms
    this.#time.advance(ms)
    this.#until = null
  }
}
