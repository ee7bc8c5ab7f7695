import type { Ms, Time } from '@parley/kernel'

/** The result of `ask`, wrapped; undefined when it fails or takes longer than `ms`. A late result is dropped. */
export function answeredInTime<T>(time: Time, ms: Ms, ask: () => Promise<T>): Promise<{ value: T } | undefined> {
  return new Promise(resolve => {
    const timer = time.at(time.now() + ms, () => resolve(undefined))
    const done = (answer: { value: T } | undefined) => {
      timer.cancel()
      resolve(answer)
    }
    // `ask` may also throw synchronously.
    Promise.resolve()
      .then(ask)
      .then(
        value => done({ value }),
        () => done(undefined),
      )
  })
}
