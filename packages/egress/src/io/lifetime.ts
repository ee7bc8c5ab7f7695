import type { Ms, Time, Timer } from '@parley/kernel'

type EndOfLife = 'timeout' | 'aborted' | 'closed'

/** How long a request may go on: until its deadline, its owner's abort, or the end of the client. */
export class Lifetime {
  readonly #over = new AbortController()
  readonly #timer: Timer
  readonly #owner: AbortSignal
  readonly #onAbort = () => this.end('aborted')
  #endedBy: EndOfLife | undefined

  constructor(time: Time, deadline: Ms, owner: AbortSignal) {
    this.#owner = owner
    this.#timer = time.at(deadline, () => this.end('timeout'))
    if (owner.aborted) this.end('aborted')
    else owner.addEventListener('abort', this.#onAbort)
  }

  /** Undefined while it goes on. */
  get endedBy(): EndOfLife | undefined {
    return this.#endedBy
  }

  /** Aborts at the end; at once when it has come. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  end(by: EndOfLife): void {
    if (this.#endedBy !== undefined) return
    this.#endedBy = by
    this.release()
    this.#over.abort()
  }

  /** Nothing is timed any more. */
  release(): void {
    this.#timer.cancel()
    this.#owner.removeEventListener('abort', this.#onAbort)
  }

  /** What `promise` gives, undefined if the end comes first; rejects as it does. */
  within<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const onEnd = () => resolve(undefined)
      const over = this.#over.signal
      if (over.aborted) onEnd()
      else over.addEventListener('abort', onEnd, { once: true })
      promise.then(resolve, reject).finally(() => over.removeEventListener('abort', onEnd))
    })
  }
}
