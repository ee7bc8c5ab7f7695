import { randomFillSync } from 'node:crypto'
import type { Random } from '../random.ts'
import type { Time, Timer } from '../time.ts'
import type { Ms } from '../units.ts'

/** The process's monotonic clock and timers. Timers keep the process alive only while armed. */
export const systemTime: Time = {
  now: () => performance.now(),
  at(deadline: Ms, callback: () => void): Timer {
    // setTimeout may fire up to 1 ms early against performance.now(): round up so that `now() >= deadline` holds.
    const handle = setTimeout(callback, Math.max(0, Math.ceil(deadline - performance.now())))
    return { cancel: () => clearTimeout(handle) }
  },
}

/** The operating system's random number generator. */
export const systemRandom: Random = {
  bytes: length => randomFillSync(new Uint8Array(length)),
}
