import type { Ms, Time } from '@parley/kernel'

/** Resolves after `ms` on `time` or when the signal aborts; at once when `ms` is 0 or `time` is not given. */
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
