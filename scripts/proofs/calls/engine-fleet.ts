import type { CallHarness } from './call-harness.ts'
import type { HarnessEngine } from './harness-processes.ts'
import { within } from './within.ts'

const LOOK_WITHIN_MS = 10_000

/** The engines of a harness, of which some are up while those that were killed start again. */
export class EngineFleet {
  readonly #harness: CallHarness
  /** Running engines, the least recently used first. */
  readonly #up: HarnessEngine[]
  readonly #starting = new Set<Promise<void>>()
  #isClosing = false

  constructor(harness: CallHarness) {
    this.#harness = harness
    this.#up = [...harness.engines]
  }

  /** One that is up. Rejects where none comes up again. */
  async any(): Promise<HarnessEngine> {
    while (this.#up.length === 0) {
      if (this.#starting.size === 0) throw new Error('no engine is up, and none is being started')
      await Promise.race(this.#starting)
    }
    return this.#up[0]!
  }

  /** The one that has the run; null: none that is up. */
  async ownerOf(run_id: string): Promise<HarnessEngine | null> {
    const text =
      "select (e.addresses ->> 'tls_port')::int as port from parley.run_ownership o join parley.engines e on e.engine_id = o.engine where o.run_id = $1"
    return within(LOOK_WITHIN_MS, async () => {
      const [owner] = await this.#harness.rows<{ port: number }>(text, [run_id])
      return this.#up.find(({ tlsPort }) => tlsPort === owner?.port) ?? null
    })
  }

  /** SIGKILL; resolves when it is gone, and begins to start it again. */
  async kill(engine: HarnessEngine): Promise<void> {
    const at = this.#up.indexOf(engine)
    if (at >= 0) this.#up.splice(at, 1)
    await engine.process.kill()
    if (this.#isClosing) return
    const start = engine.process.start().then(() => {
      this.#up.push(engine)
      this.#starting.delete(start)
    })
    // `any` reports an engine that does not start.
    start.catch(() => {})
    this.#starting.add(start)
  }

  /** Starts none any more; resolves when those that were being started are up or have failed. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled(this.#starting)
  }
}
