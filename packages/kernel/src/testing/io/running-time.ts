import type { Time, Timer } from '../../time.ts'
import type { Ms } from '../../units.ts'
import { VirtualTime } from '../../virtual-time.ts'

/** How often the clock is moved. */
const TICK_MS: Ms = 5
/** The clock moves by at most this much at once. */
const MAX_STEP_MS: Ms = 20

class RunningTime implements Time {
  readonly #clock = new VirtualTime()
  #movedAt = 0
  #ticks: NodeJS.Timeout | undefined

  now(): Ms {
    this.#start()
    return this.#clock.now()
  }

  at(deadline: Ms, callback: () => void): Timer {
    this.#start().ref()
    return this.#clock.at(deadline, callback)
  }

  #start(): NodeJS.Timeout {
    if (this.#ticks === undefined) {
      this.#movedAt = performance.now()
      this.#ticks = setInterval(() => this.#move(), TICK_MS).unref()
    }
    return this.#ticks
  }

  #move(): void {
    const at = performance.now()
    const step = Math.min(at - this.#movedAt, MAX_STEP_MS)
    this.#movedAt = at
    this.#clock.advance(step)
    if (this.#clock.nextDeadline() === undefined) this.#ticks?.unref()
  }
}

/**
 * Real time without that in which this process could not run: while the process waits for a processor, or computes, the clock stands
 * still after 20 ms. For a test whose peer is in the same process: a limit of 1.5 s is then 1.5 s in which the peer could answer, on
 * every machine. Timers fire up to 5 ms late and keep the process alive only while armed. Not for a test that judges how long something took.
 */
export const runningTime: Time = new RunningTime()
