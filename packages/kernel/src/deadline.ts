import type { Time } from './time.ts'
import type { Ms } from './units.ts'

/** Resolves at `deadline`, or as soon as `signal` aborts. */
export function sleepUntil(time: Time, deadline: Ms, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted || time.now() >= deadline) return resolve()
    const stop = () => {
      timer.cancel()
      resolve()
    }
    const timer = time.at(deadline, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** The result of `work`; null if it is not there at `deadline` or when `signal` aborts. Rejects as `work` does. */
export async function withDeadline<Result>(
  time: Time,
  deadline: Ms,
  signal: AbortSignal,
  work: Promise<Result>,
): Promise<Result | null> {
  const over = new AbortController()
  const late = sleepUntil(time, deadline, AbortSignal.any([signal, over.signal]))
  try {
    return await Promise.race([work, late.then(() => null)])
  } finally {
    over.abort()
    // A late rejection has no listener and must not end the process.
    work.catch(() => {})
  }
}
