import type { Ms, Time } from '@parley/kernel'

/** What a port answers, wrapped; undefined when it fails or takes longer than `ms`. A later answer is dropped. */
export function answeredInTime<T>(time: Time, ms: Ms, ask: () => Promise<T>): Promise<{ value: T } | undefined> {
  return new Promise(resolve => {
    const timer = time.at(time.now() + ms, () => resolve(undefined))
    const done = (answer: { value: T } | undefined) => {
      timer.cancel()
      resolve(answer)
    }
    // A port may also throw before it gives a promise.
    Promise.resolve()
      .then(ask)
      .then(
        value => done({ value }),
        () => done(undefined),
      )
  })
}
