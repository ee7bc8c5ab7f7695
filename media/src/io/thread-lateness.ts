import type { Ms } from '@parley/kernel'
import { LatenessHistogram } from '../session/lateness-histogram.ts'
import { LatenessWindow } from '../session/lateness-window.ts'
import { LATENESS_US, type LatenessSummary } from './thread-protocol.ts'

/** Missed slots of one call that are counted at once. */
const MOST_MISSED = 100

/** How late the packets of a media thread leave: since the last request for statistics, and in windows by which an engine admits calls. */
export class ThreadLateness {
  readonly all = new LatenessHistogram()
  readonly recent: LatenessWindow
  readonly #words: Int32Array

  constructor(words: Int32Array, nowMs: Ms) {
    this.#words = words
    this.recent = new LatenessWindow(nowMs)
  }

  /**
   * Notes how late a packet is sent. A slot that was missed counts as a packet that is late by as much for those who decide about new
   * calls: otherwise a thread that leaves out packets would seem to be in time.
   */
  note(lateMs: Ms, missed: number, ptimeMs: Ms): void {
    this.all.add(lateMs)
    this.recent.add(lateMs)
    for (let k = Math.min(missed, MOST_MISSED); k > 0; k--) this.recent.add(lateMs + k * ptimeMs)
  }

  /** Publishes the lateness of the window that has just ended; otherwise the last value stays. */
  publish(nowMs: Ms): void {
    const p99Ms = this.recent.ended(nowMs)
    if (p99Ms !== null) this.#store(p99Ms)
  }

  /** The thread has no calls. */
  publishIdle(): void {
    this.#store(0)
  }

  /** Since the last summary. */
  takeSummary(): LatenessSummary {
    const late = this.all
    const summary = {
      count: late.count,
      p50Ms: late.quantile(0.5),
      p99Ms: late.quantile(0.99),
      p999Ms: late.quantile(0.999),
      maxMs: late.maxMs,
      counts: this.recent.takeCounts(),
    }
    late.reset()
    return summary
  }

  #store(lateMs: Ms): void {
    Atomics.store(this.#words, LATENESS_US, Math.round(lateMs * 1000))
  }
}
