import type { CallHarness } from './call-harness.ts'
import type { HarnessEngine } from './harness-processes.ts'
import { pollUntil } from './poll-until.ts'

const OWNER_TIMEOUT_MS = 60_000

/** The engines of a harness. Some are running while killed ones restart, as long as there are kills to come. */
export class EngineFleet {
  readonly #harness: CallHarness
  /** Running engines, the least recently used first. */
  readonly #running: HarnessEngine[]
  readonly #starting = new Set<Promise<void>>()
  /** Kills to come, as far as they are known. */
  #killsLeft: number
  #isClosing = false

  /** `kills`: how many are expected. */
  constructor(harness: CallHarness, kills: number) {
    this.#harness = harness
    this.#running = [...harness.engines]
    this.#killsLeft = kills
  }

  /** A running engine. Waits for a restart if there is none. */
  async any(): Promise<HarnessEngine> {
    while (this.#running.length === 0) {
      if (this.#starting.size === 0) throw new Error('no engine is running or being restarted')
      await Promise.race(this.#starting)
    }
    return this.#running[0]!
  }

  /** The running engine that owns the run; null: none within 10 s. */
  async ownerOf(run_id: string): Promise<HarnessEngine | null> {
    const text =
      "select (e.addresses ->> 'tls_port')::int as port from parley.run_ownership o join parley.engines e on e.engine_id = o.engine where o.run_id = $1"
    return pollUntil(OWNER_TIMEOUT_MS, async () => {
      const [owner] = await this.#harness.rows<{ port: number }>(text, [run_id])
      return this.#running.find(({ tlsPort }) => tlsPort === owner?.port) ?? null
    })
  }

  /**
   * Sends SIGKILL, waits for the exit and starts the engine again in the background, unless enough engines are left for the kills
   * to come and for what the last one leaves.
   */
  async kill(engine: HarnessEngine): Promise<void> {
    const at = this.#running.indexOf(engine)
    if (at >= 0) this.#running.splice(at, 1)
    await engine.process.kill()
    this.#killsLeft = Math.max(0, this.#killsLeft - 1)
    if (this.#isClosing || this.#running.length + this.#starting.size > this.#killsLeft) return
    const start = engine.process.start().then(() => {
      this.#running.push(engine)
      this.#starting.delete(start)
    })
    // `any` reports an engine that does not start.
    start.catch(() => {})
    this.#starting.add(start)
  }

  /** Stops restarting engines; resolves when the restarts in progress have ended. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled(this.#starting)
  }
}
