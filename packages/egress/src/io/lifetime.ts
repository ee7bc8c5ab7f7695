import type { Ms, Time, Timer } from '@parley/kernel'

type LifetimeEnd = 'timeout' | 'aborted' | 'closed'

/** The lifetime of a request: it ends at the deadline, at the caller's abort, or when the client is closed. */
export class Lifetime {
  readonly #controller = new AbortController()
  readonly #timer: Timer
  readonly #owner: AbortSignal
  readonly #onAbort = () => this.end('aborted')
  #endedBy: LifetimeEnd | undefined

  constructor(time: Time, deadline: Ms, owner: AbortSignal) {
    this.#owner = owner
    this.#timer = time.at(deadline, () => this.end('timeout'))
    if (owner.aborted) this.end('aborted')
    else owner.addEventListener('abort', this.#onAbort)
  }

  /** Undefined while it lasts. */
  get endedBy(): LifetimeEnd | undefined {
    return this.#endedBy
  }

  /** Aborts when the lifetime ends; already aborted if it has ended. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(by: LifetimeEnd): void {
    if (this.#endedBy !== undefined) return
    this.#endedBy = by
    this.release()
    this.#controller.abort()
  }

  /** Stops the timer and the abort listener. */
  release(): void {
    this.#timer.cancel()
    this.#owner.removeEventListener('abort', this.#onAbort)
  }

  /** Resolves with the value of `promise`, or with undefined if the lifetime ends first; rejects as `promise` does. */
  within<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const onEnd = () => resolve(undefined)
      const { signal } = this.#controller
      if (signal.aborted) onEnd()
      else signal.addEventListener('abort', onEnd, { once: true })
      promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onEnd))
    })
  }
}
