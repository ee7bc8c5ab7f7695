import { type Ms, ParleyError, type Time, type Timer } from '@parley/kernel'

/** How fast a trunk may be called: carriers bar those who are faster. */
export interface TrunkRate {
  readonly name: string
  /** More than 0, at most 10000; 0.5 is one call every two seconds. */
  readonly callsPerSecond: number
}

export interface CallRateOptions {
  readonly time: Time
  /** Calls of one trunk that wait; more fail at once; default 100. */
  readonly maxWaiting?: number
}

/** Trunks remembered although nothing of theirs waits. */
const IDLE_TRUNKS = 1_000

/** The limiters of all trunks, by name. */
export class CallRates {
  readonly #options: CallRateOptions
  readonly #byName = new Map<string, CallRate>()

  constructor(options: CallRateOptions) {
    this.#options = options
  }

  /**
   * Resolves when a call may leave, in the order of asking. Rejects with `ParleyError` "call_rate_exceeded" (retryable)
   * when too many wait, "shutdown" when it is stopped. The newest `callsPerSecond` counts; throws a RangeError on a bad one.
   */
  async take(trunk: TrunkRate): Promise<void> {
    const { name, callsPerSecond } = trunk
    if (!(callsPerSecond > 0 && callsPerSecond <= 10_000))
      throw new RangeError(`${callsPerSecond} calls per second is not more than 0 and at most 10000`)
    let rate = this.#byName.get(name)
    if (rate === undefined) {
      this.#forgetIdle()
      rate = new CallRate(name, this.#options)
      this.#byName.set(name, rate)
    }
    await rate.take(1000 / callsPerSecond)
  }

  /** Calls that wait, of all trunks. */
  get waiting(): number {
    let waiting = 0
    for (const rate of this.#byName.values()) waiting += rate.waiting
    return waiting
  }

  /** Whatever waits is rejected. */
  stop(): void {
    for (const rate of this.#byName.values()) rate.stop()
  }

  #forgetIdle(): void {
    if (this.#byName.size < IDLE_TRUNKS) return
    for (const [name, rate] of this.#byName) if (rate.idle) this.#byName.delete(name)
  }
}

/**
 * A bucket of one token, filled every interval: no second of any clock ever sees more calls than allowed, also after a
 * pause, and also when this process stalled while calls waited.
 */
class CallRate {
  readonly #name: string
  readonly #time: Time
  readonly #maxWaiting: number
  readonly #queue: PromiseWithResolvers<void>[] = []
  #intervalMs: Ms = 0
  #lastAt = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined

  constructor(name: string, options: CallRateOptions) {
    this.#name = name
    this.#time = options.time
    this.#maxWaiting = options.maxWaiting ?? 100
  }

  get waiting(): number {
    return this.#queue.length
  }

  get idle(): boolean {
    return this.#queue.length === 0 && this.#time.now() >= this.#lastAt + this.#intervalMs
  }

  take(intervalMs: Ms): Promise<void> {
    this.#intervalMs = intervalMs
    if (this.idle) {
      this.#lastAt = this.#time.now()
      return Promise.resolve()
    }
    if (this.#queue.length >= this.#maxWaiting) {
      const message = `${this.#queue.length} calls wait for trunk ${this.#name} already`
      return Promise.reject(new ParleyError('call_rate_exceeded', message, { retryable: true }))
    }
    const place = Promise.withResolvers<void>()
    this.#queue.push(place)
    this.#schedule()
    return place.promise
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const place of this.#queue.splice(0))
      place.reject(new ParleyError('shutdown', 'the engine is closing', { retryable: true }))
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#queue.length === 0) return
    this.#timer = this.#time.at(this.#lastAt + this.#intervalMs, () => {
      this.#timer = undefined
      this.#lastAt = this.#time.now()
      this.#queue.shift()?.resolve()
      this.#schedule()
    })
  }
}
