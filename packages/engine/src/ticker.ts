import { type Ms, type Time, type Timer, TransientSet } from '@parley/kernel'

/** How often the received audio of each call is read. */
const PERIOD_MS: Ms = 20
const PHASES = 4
/** Time constant of the mean lateness: a single stall of 200 ms counts for 20 ms. */
const MEAN_OVER_MS: Ms = 2000

/** Lets all calls read their received audio on one timer: a quarter of them every 5 ms, so that no call waits for all others. */
export class Ticker {
  readonly #time: Time
  readonly #phases = Array.from({ length: PHASES }, () => new TransientSet<() => void>())
  #phase = 0
  #timer: Timer | null = null
  #dueAt: Ms = 0
  #latenessMs: Ms = 0

  constructor(time: Time) {
    this.#time = time
  }

  /** Calls `drain` every 20 ms until the returned function is called. */
  add(drain: () => void): () => void {
    const phase = this.#phases.reduce((least, other) => (other.size < least.size ? other : least))
    const remove = phase.add(drain)
    if (this.#timer === null) {
      this.#latenessMs = 0
      this.#schedule()
    }
    return remove
  }

  /** How late calls read their audio, mean over about two seconds; 0 without calls. It is long when the thread has too much work. */
  get latenessMs(): Ms {
    return this.#timer === null ? 0 : this.#latenessMs
  }

  #schedule(): void {
    this.#dueAt = this.#time.now() + PERIOD_MS / PHASES
    this.#timer = this.#time.at(this.#dueAt, () => this.#run())
  }

  #run(): void {
    this.#timer = null
    const late = this.#time.now() - this.#dueAt
    this.#latenessMs += (late - this.#latenessMs) * (1 - Math.exp(-(late + PERIOD_MS / PHASES) / MEAN_OVER_MS))
    this.#phase = (this.#phase + 1) % PHASES
    for (const drain of [...this.#phases[this.#phase]!]) drain()
    if (this.#timer !== null || this.#phases.every(phase => phase.size === 0)) return
    this.#schedule()
  }
}
