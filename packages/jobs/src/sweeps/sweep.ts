import { type Ms, type Random, randomBelow, type Time, type Timer } from '@parley/kernel'
import { RepeatedFailureLog } from '@parley/runs'
import type { JobCounters } from '../metrics.ts'
import type { JobLog } from '../protocol.ts'

/** The first round comes at a random time within this, so that workers that start together do not run in step. */
const FIRST_WITHIN_MS: Ms = 1000
const LONGEST_PAUSE_MS: Ms = 30_000

export interface SweepOptions {
  /** Names the sweep in the log. */
  readonly name: string
  /** From the end of a round to the next. */
  readonly everyMs: Ms
  /** One round; true: there is more to do, and the next round follows at once. */
  readonly round: () => Promise<boolean>
  readonly time: Time
  readonly random: Random
  readonly log: JobLog
  readonly counters: JobCounters
}

/** Runs rounds until it is closed. A failed round is logged and counted; the pause doubles with each, up to 30 s. */
export class Sweep {
  readonly #options: SweepOptions
  readonly #rounds: RepeatedFailureLog
  #timer: Timer | null = null
  #round: Promise<void> | null = null
  #failures = 0
  #closed = false

  constructor(options: SweepOptions) {
    this.#options = options
    const { random, everyMs, name, time, log } = options
    this.#rounds = new RepeatedFailureLog({ name: `the sweep "${name}"`, time, onProblem: log })
    this.#schedule(randomBelow(random, Math.max(1, Math.ceil(Math.min(everyMs, FIRST_WITHIN_MS)))))
  }

  /** Starts no more rounds; resolves when the current one has ended. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#round
  }

  #schedule(inMs: Ms): void {
    if (this.#closed) return
    const { time } = this.#options
    this.#timer = time.at(time.now() + inMs, () => {
      this.#round = this.#go().finally(() => {
        this.#round = null
      })
    })
  }

  async #go(): Promise<void> {
    const { round, everyMs, counters } = this.#options
    try {
      const hasMore = await round()
      this.#failures = 0
      this.#rounds.worked()
      this.#schedule(hasMore ? 0 : everyMs)
    } catch (error) {
      counters.add('sweep_failures')
      this.#rounds.failed(error)
      const longest = Math.max(everyMs, LONGEST_PAUSE_MS)
      this.#schedule(Math.min(everyMs * 2 ** this.#failures++, longest))
    }
  }
}
