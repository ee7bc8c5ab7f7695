import type { Ms } from '@parley/kernel'
import { type LatenessCounts, LatenessHistogram } from './lateness-histogram.ts'

/** Time over which lateness is judged. */
const WINDOW_MS: Ms = 5000
/** Fewer packets in a window are those of less than ten calls: one short stall would be their p99. */
const LEAST_PACKETS = 2500

/** Lateness of sent packets in successive windows of 5 s, by which an engine decides whether it takes more calls. */
export class LatenessWindow {
  /** What was added since it was last moved to the two below; the native path adds as well. */
  readonly histogram = new LatenessHistogram()
  readonly #window = new LatenessHistogram()
  readonly #sinceTaken = new LatenessHistogram()
  #endsAt: Ms

  constructor(nowMs: Ms) {
    this.#endsAt = nowMs + WINDOW_MS
  }

  add(lateMs: Ms): void {
    this.histogram.add(lateMs)
  }

  /** The p99 of the window that has just ended, 0 where it had fewer than 2,500 packets; null: the window goes on. */
  ended(nowMs: Ms): Ms | null {
    if (nowMs < this.#endsAt) return null
    this.#move()
    const p99 = this.#window.count < LEAST_PACKETS ? 0 : this.#window.quantile(0.99)
    this.reset(nowMs)
    return p99
  }

  /** All packets since the last call, of whichever windows. */
  takeCounts(): LatenessCounts {
    this.#move()
    const counts = this.#sinceTaken.counts()
    this.#sinceTaken.reset()
    return counts
  }

  /** Begins another window. */
  reset(nowMs: Ms): void {
    this.#move()
    this.#window.reset()
    this.#endsAt = nowMs + WINDOW_MS
  }

  #move(): void {
    this.#window.merge(this.histogram)
    this.#sinceTaken.merge(this.histogram)
    this.histogram.reset()
  }
}
