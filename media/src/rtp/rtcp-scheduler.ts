import { type Ms, type Random, randomUint32 } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'

const MIN_INTERVAL_MS = 5000
/** Undoes the bias of timer reconsideration (RFC 3550 section 6.3.1): e - 3/2. */
const COMPENSATION = Math.E - 1.5

export const ReportWords = wordsClass('nextAtMs')

/**
 * When RTCP reports leave (RFC 3550 sections 6.2 and 6.3). A call has two members and its reports are small, so the
 * 5 s minimum always outweighs the bandwidth share, and reconsideration never changes the answer: both are left out.
 */
export class RtcpScheduler {
  readonly #random: Random
  readonly #state: InstanceType<typeof ReportWords>

  /** The first report leaves after half the interval (section 6.2). */
  constructor(random: Random, now: Ms, memory?: Float64Array) {
    this.#random = random
    this.#state = new ReportWords(memory)
    this.#state.nextAtMs = now + this.#interval(MIN_INTERVAL_MS / 2)
  }

  get nextAt(): Ms {
    return this.#state.nextAtMs
  }

  /** True once per interval, when a report is due; the next one is then scheduled from `now`, so missed ones are skipped. */
  due(now: Ms): boolean {
    if (now < this.#state.nextAtMs) return false
    this.#state.nextAtMs = now + this.#interval(MIN_INTERVAL_MS)
    return true
  }

  #interval(base: Ms): Ms {
    return (base * (0.5 + randomUint32(this.#random) / 2 ** 32)) / COMPENSATION
  }
}
