import type { Ms } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
import type { ReceptionInterval } from './media-session.ts'

const INTERVAL_MS: Ms = 10_000
/** Two hours; of a longer call the oldest are dropped. */
const MAX_INTERVALS = 720

/** Running totals of what was received. */
interface ReceptionTotals {
  readonly received: number
  readonly lost: number
  /** Sum of the jitter after each packet that counted, ms, and their number. */
  readonly jitterSum: number
  readonly jitterCount: number
}

const NOTHING: ReceptionTotals = { received: 0, lost: 0, jitterSum: 0, jitterCount: 0 }

export const IntervalWords = wordsClass('nextAtMs')

/** The reception of each 10 s of a call. Intervals in which nothing was expected (a hold) are left out. */
export class ReceptionIntervals {
  readonly intervals: ReceptionInterval[] = []
  readonly #state: InstanceType<typeof IntervalWords>
  #before = NOTHING

  constructor(openedAtMs: Ms, memory?: Float64Array) {
    this.#state = new IntervalWords(memory)
    this.#state.nextAtMs = openedAtMs + INTERVAL_MS
  }

  /** Whether an interval is over. A cheap check before totals are collected. */
  due(nowMs: Ms): boolean {
    return nowMs >= this.#state.nextAtMs
  }

  /** Ends the interval: at its time, or earlier with the call. */
  end(nowMs: Ms, totals: ReceptionTotals): void {
    const before = this.#before
    const received = totals.received - before.received
    const lost = Math.max(0, totals.lost - before.lost)
    const packets = totals.jitterCount - before.jitterCount
    this.#before = totals
    this.#state.nextAtMs = nowMs + INTERVAL_MS
    if (received + lost === 0) return
    const jitterMs = packets === 0 ? 0 : (totals.jitterSum - before.jitterSum) / packets
    this.intervals.push({ received, lost, jitterMs })
    if (this.intervals.length > MAX_INTERVALS) this.intervals.shift()
  }
}
