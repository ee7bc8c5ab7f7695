import type { Ms } from '@parley/kernel'
import { LatenessHistogram } from './lateness-histogram.ts'

/** Time over which lateness is judged. */
const WINDOW_MS: Ms = 5000
/** Fewer packets in a window are those of less than ten calls: one short stall would be their p99. */
const LEAST_PACKETS = 2500

/** Lateness of sent packets in successive windows of 5 s, by which an engine decides whether it takes more calls. */
export class LatenessWindow {
  readonly histogram = new LatenessHistogram()
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
    const p99 = this.histogram.count < LEAST_PACKETS ? 0 : this.histogram.quantile(0.99)
    this.reset(nowMs)
    return p99
  }

  reset(nowMs: Ms): void {
    this.histogram.reset()
    this.#endsAt = nowMs + WINDOW_MS
  }
}
