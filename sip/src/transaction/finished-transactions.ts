import type { Ms, Time, Timer } from '@parley/kernel'
import type { Destination } from './message-sender.ts'

/** What is left of a server transaction that has sent its last response of its own: it absorbs or answers retransmissions. */
export interface FinishedTransaction {
  readonly key: string
  /** See `mergeKey`; undefined: it does not count as one of the requests that could be merged. */
  readonly mergeKey: string | undefined
  /** An ACK is absorbed; otherwise it is the one to a 2xx and belongs to the dialog. */
  readonly absorbsAck: boolean
  /** The To tag of the response to a CANCEL (RFC 3261 section 9.2). */
  readonly localTag: string | undefined
  /** The response to retransmissions of the request, one character per byte: less memory than a buffer. Undefined: they are absorbed. */
  readonly repeated: { readonly to: Destination; readonly latin1: string } | undefined
  /** When it may be forgotten: Timer I, J or L. */
  readonly until: Ms
}

/** Finished transactions are forgotten at most this often: one timer serves many. */
const FORGET_EVERY_MS: Ms = 250
/** Share of the capacity that is forgotten at once to make room. */
const ROOM_SHARE = 1 / 16

/**
 * Finished server transactions, oldest first. They last 32 s (RFC 3261 table 4), much longer than the short calls of a busy
 * peer, so they are small, and the oldest make room for new ones: no peer that still repeats a request waits that long.
 */
export class FinishedTransactions {
  readonly #time: Time
  readonly #capacity: number
  readonly #onForgotten: (finished: FinishedTransaction) => void
  /** In the order in which they finished. */
  readonly #byKey = new Map<string, FinishedTransaction>()
  #timer: Timer | undefined

  constructor(time: Time, capacity: number, onForgotten: (finished: FinishedTransaction) => void) {
    this.#time = time
    this.#capacity = capacity
    this.#onForgotten = onForgotten
  }

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): FinishedTransaction | undefined {
    return this.#byKey.get(key)
  }

  add(finished: FinishedTransaction): void {
    if (this.#byKey.size >= this.#capacity) this.#makeRoom()
    this.#byKey.set(finished.key, finished)
    if (this.#timer === undefined) this.#arm(finished.until)
  }

  /** Many at once: deleting the first key of a Map walks over the gaps of those deleted before it. */
  #makeRoom(): void {
    let excess = Math.ceil(this.#capacity * ROOM_SHARE)
    for (const finished of this.#byKey.values()) {
      if (excess-- <= 0) return
      this.#forget(finished)
    }
  }

  #arm(deadline: Ms): void {
    this.#timer = this.#time.at(deadline, () => {
      this.#timer = undefined
      const now = this.#time.now()
      for (const finished of this.#byKey.values()) {
        if (finished.until > now) return this.#arm(Math.max(finished.until, now + FORGET_EVERY_MS))
        this.#forget(finished)
      }
    })
  }

  #forget(finished: FinishedTransaction): void {
    this.#byKey.delete(finished.key)
    this.#onForgotten(finished)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const finished of this.#byKey.values()) this.#forget(finished)
  }
}
