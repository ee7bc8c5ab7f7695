import type { Ms, Time, Timer } from '@parley/kernel'

/** How often each call's heard audio is looked at. */
const PERIOD_MS: Ms = 20
const PHASES = 4

/** Lets calls look at what they heard, all on one timer: a quarter of them every 5 ms, so that none waits for all. */
export class Ticker {
  readonly #time: Time
  readonly #phases: Set<() => void>[] = Array.from({ length: PHASES }, () => new Set())
  #phase = 0
  #timer: Timer | null = null

  constructor(time: Time) {
    this.#time = time
  }

  /** Calls `drain` every 20 ms until the returned function is called. */
  add(drain: () => void): () => void {
    const phase = this.#phases.reduce((least, other) => (other.size < least.size ? other : least))
    phase.add(drain)
    this.#timer ??= this.#time.at(this.#time.now() + PERIOD_MS / PHASES, () => this.#run())
    return () => phase.delete(drain)
  }

  #run(): void {
    this.#timer = null
    this.#phase = (this.#phase + 1) % PHASES
    for (const drain of [...this.#phases[this.#phase]!]) drain()
    if (this.#timer !== null || this.#phases.every(phase => phase.size === 0)) return
    this.#timer = this.#time.at(this.#time.now() + PERIOD_MS / PHASES, () => this.#run())
  }
}
