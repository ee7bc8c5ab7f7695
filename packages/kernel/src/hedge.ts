import { ABORTED } from './aborted.ts'
import { judgeAt } from './judge-at.ts'
import type { Time, Timer } from './time.ts'
import type { Ms } from './units.ts'

/** Why another attempt is started: the attempts so far are late with their first item, or all have failed. */
export type HedgeCause = 'late' | 'failed'

interface HedgeOptions<Item> {
  /** Starts attempt `number` (0: the first); null: there is no such attempt. */
  readonly start: (number: number, cause: HedgeCause | null, signal: AbortSignal) => AsyncIterable<Item> | null
  /** An attempt without its first item after this time is late, unless this process was: see `judgeAt`. */
  readonly lateAfterMs: Ms
  readonly time: Time
  readonly signal: AbortSignal
  /** Another attempt was started. */
  readonly onHedge?: (number: number, cause: HedgeCause) => void
}

/**
 * Hedged request: the items of the attempt whose first item comes first; the other attempts are aborted. Ends at once when `signal`
 * aborts; throws the error of the last attempt when all have failed.
 */
export async function* hedge<Item>(options: HedgeOptions<Item>): AsyncGenerator<Item, void, undefined> {
  const race = new Race(options)
  try {
    const winner = await race.winner()
    if (winner === null) return
    yield* race.items(winner)
  } finally {
    race.close()
  }
}

interface Attempt<Item> {
  readonly number: number
  readonly controller: AbortController
  readonly iterator: AsyncIterator<Item>
}

interface Winner<Item> extends Attempt<Item> {
  readonly first: IteratorResult<Item>
}

class Race<Item> {
  readonly #options: HedgeOptions<Item>
  readonly #attempts: Attempt<Item>[] = []
  #running = 0
  #timer: Timer | undefined
  #result = Promise.withResolvers<Winner<Item> | null>()
  #error: unknown
  /** An attempt has won. The others end when they are aborted, which is no second win. */
  #isDecided = false
  readonly #onAbort = () => this.#result.resolve(null)

  constructor(options: HedgeOptions<Item>) {
    this.#options = options
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
    if (options.signal.aborted) this.#onAbort()
    else this.#start(null)
  }

  winner(): Promise<Winner<Item> | null> {
    return this.#result.promise
  }

  async *items({ iterator, first }: Winner<Item>): AsyncGenerator<Item, void, undefined> {
    const { signal } = this.#options
    for (let next = first; next.done !== true && !signal.aborted; next = await iterator.next()) yield next.value
  }

  /** Aborts all attempts. */
  close(): void {
    this.#timer?.cancel()
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    for (const { controller, iterator } of this.#attempts) stop(controller, iterator)
  }

  #start(cause: HedgeCause | null): boolean {
    const number = this.#attempts.length
    const controller = new AbortController()
    let attempt: Attempt<Item>
    try {
      const items = this.#options.start(number, cause, controller.signal)
      if (items === null) return false
      attempt = { number, controller, iterator: items[Symbol.asyncIterator]() }
    } catch (error) {
      this.#error = error
      if (this.#running === 0) this.#result.reject(error)
      return false
    }
    if (this.#options.signal.aborted) controller.abort(ABORTED)
    else this.#options.signal.addEventListener('abort', () => controller.abort(ABORTED), { once: true })
    this.#attempts.push(attempt)
    this.#running++
    if (cause !== null) this.#options.onHedge?.(number, cause)
    this.#armTimer()
    attempt.iterator.next().then(
      first => this.#won({ ...attempt, first }),
      error => this.#lost(error),
    )
    return true
  }

  #armTimer(): void {
    const { time, lateAfterMs } = this.#options
    this.#timer?.cancel()
    this.#timer = judgeAt(time, time.now() + lateAfterMs, () => this.#start('late'))
  }

  #won(winner: Winner<Item>): void {
    if (this.#isDecided) return
    this.#isDecided = true
    this.#timer?.cancel()
    this.#result.resolve(winner)
    for (const { number, controller, iterator } of this.#attempts)
      if (number !== winner.number) stop(controller, iterator)
  }

  #lost(error: unknown): void {
    this.#running--
    this.#error = error
    if (this.#running > 0) return
    this.#timer?.cancel()
    if (!this.#start('failed')) this.#result.reject(this.#error)
  }
}

function stop(controller: AbortController, iterator: AsyncIterator<unknown>): void {
  controller.abort(ABORTED)
  try {
    iterator.return?.()?.then(undefined, () => {})
  } catch {
    // An iterator that cannot be closed needs no further handling.
  }
}
