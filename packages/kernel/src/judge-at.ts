import type { Time, Timer } from './time.ts'
import type { Ms } from './units.ts'

/** A timer that fires later than this was held up with its process. */
const HELD_UP_MS: Ms = 100
/** Then what arrived meanwhile is read within this time. */
const READ_WITHIN_MS: Ms = 250

/**
 * As `time.at`, for a callback that judges what has not arrived by `deadline`. A process that was held up (by its own work, or by a slow
 * machine) runs its timers before it reads what arrived meanwhile: `callback` then runs 250 ms later, unless it is cancelled by what is read.
 */
export function judgeAt(time: Time, deadline: Ms, callback: () => void): Timer {
  let timer = time.at(deadline, () => {
    const now = time.now()
    if (now - deadline <= HELD_UP_MS) return callback()
    timer = time.at(now + READ_WITHIN_MS, callback)
  })
  return { cancel: () => timer.cancel() }
}
