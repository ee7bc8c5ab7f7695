import type { Ms, Time } from '@parley/kernel'

/** Resolves at `deadline`, at once when `signal` aborts. */
export function until(time: Time, deadline: Ms, signal: AbortSignal): Promise<void> {
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

/** What `work` comes to; null where that takes longer than to `deadline`, or `signal` aborts before. Rejects as `work` does. */
export async function before<Result>(
  time: Time,
  deadline: Ms,
  signal: AbortSignal,
  work: Promise<Result>,
): Promise<Result | null> {
  const over = new AbortController()
  const late = until(time, deadline, AbortSignal.any([signal, over.signal]))
  try {
    return await Promise.race([work, late.then(() => null)])
  } finally {
    over.abort()
    // Nobody hears what comes of it later.
    work.catch(() => {})
  }
}
