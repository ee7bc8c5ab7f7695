import type { Ms, Time, Timer } from '@parley/kernel'

/** How often the received audio of each call is read. */
const PERIOD_MS: Ms = 20
const PHASES = 4

/** Lets all calls read their received audio on one timer: a quarter of them every 5 ms, so that no call waits for all others. */
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
