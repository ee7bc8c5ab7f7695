import type { Ms } from './units.ts'

/** A timer that has not fired yet. */
export interface Timer {
  /** Idempotent; after it returns the callback never runs. */
  cancel(): void
}

/**
 * Time as an input. All logic reads the clock through this interface: `systemTime` (io) in production,
 * `VirtualTime` in tests, where a ten-minute call takes milliseconds.
 */
export interface Time {
  /** Monotonic; only differences mean something. */
  now(): Ms
  /** Runs `callback` once when `now()` has reached `deadline`; a deadline in the past runs as soon as possible, never synchronously. */
  at(deadline: Ms, callback: () => void): Timer
}
