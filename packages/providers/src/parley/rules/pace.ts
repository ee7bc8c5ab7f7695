import type { Ms, Time } from '@parley/kernel'

/** Waits `ms` on `time`, or until the signal aborts, at once where `ms` is 0 or `time` is not given. */
export function pause(time: Time | undefined, ms: Ms, signal: AbortSignal): Promise<void> {
  if (time === undefined || ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise(resolve => {
    const done = () => {
      timer.cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = time.at(time.now() + ms, done)
    signal.addEventListener('abort', done, { once: true })
  })
}
