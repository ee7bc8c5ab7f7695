import { randomFillSync } from 'node:crypto'
import type { Random } from '../random.ts'
import type { Time, Timer } from '../time.ts'
import type { Ms } from '../units.ts'

/** Longer delays overflow setTimeout, which then fires at once. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** The process's monotonic clock and timers. Timers keep the process alive only while armed. */
export const systemTime: Time = {
  now: () => performance.now(),
  at(deadline: Ms, callback: () => void): Timer {
    let handle: NodeJS.Timeout
    const wait = () => {
      const delay = Math.ceil(deadline - performance.now())
      handle = setTimeout(wake, Math.min(Math.max(0, delay), MAX_DELAY_MS))
    }
    const wake = () => {
      // setTimeout counts whole milliseconds and may be up to one early.
      if (performance.now() < deadline) wait()
      else callback()
    }
    wait()
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Bytes that are taken from the generator at once: a call of it costs several microseconds, whatever the number of bytes. */
const RANDOM_POOL_BYTES = 4096

const randomPool = new Uint8Array(RANDOM_POOL_BYTES)
let randomPoolUsed = RANDOM_POOL_BYTES

/** The operating system's random number generator. */
export const systemRandom: Random = {
  bytes: length => {
    if (length > RANDOM_POOL_BYTES / 8) return randomFillSync(new Uint8Array(length))
    if (randomPoolUsed + length > RANDOM_POOL_BYTES) {
      randomFillSync(randomPool)
      randomPoolUsed = 0
    }
    const bytes = randomPool.slice(randomPoolUsed, randomPoolUsed + length)
    // Bytes that were handed out may be keys: they do not stay in the pool.
    randomPool.fill(0, randomPoolUsed, randomPoolUsed + length)
    randomPoolUsed += length
    return bytes
  },
}
