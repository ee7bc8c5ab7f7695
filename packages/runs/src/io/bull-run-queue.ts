import type { RunKind } from '@parley/store'
import type { RunQueue, Work } from '../protocol.ts'
import type { BullConnections } from './bull-connections.ts'

/** A wake-up that no process took for so long is of no use: the sweep has offered the run since. */
const STALE_MS = 30_000
/** Runs whose claim is under way at once in one process. */
const CONCURRENCY = 64
/** Calls are for engines, all else is for workers: each role takes from its own queue. */
const QUEUES: Readonly<Record<RunKind, 'calls' | 'texts'>> = {
  phone: 'calls',
  web: 'calls',
  task: 'texts',
  chat: 'texts',
  background: 'texts',
}
const ONCE = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const

/**
 * Wake-ups on BullMQ: each is given to one process, once, and only wakes it. The run waits in the database; a queue that
 * is away costs time and loses nothing.
 */
export class BullRunQueue implements RunQueue {
  readonly #connections: BullConnections
  readonly #wallClock: () => number

  constructor(connections: BullConnections, wallClock: () => number) {
    this.#connections = connections
    this.#wallClock = wallClock
  }

  wake({ kind, run_id, scope }: Work): void {
    if (this.#connections.isClosed) return
    const { owner_id, environment, tenant_id } = scope
    this.#connections
      .queue<Work>(QUEUES[kind])
      .add(kind, { kind, run_id, scope: { owner_id, environment, tenant_id } }, ONCE)
      .catch(error => this.#connections.problem('a wake-up was lost', error))
  }

  async listen(kinds: readonly RunKind[], listener: (work: Work) => Promise<void>): Promise<() => Promise<void>> {
    const names = new Set(kinds.map(kind => QUEUES[kind]))
    // A job that its process lost is not given to another: the run is claimed, or the sweep finds it.
    const options = { concurrency: CONCURRENCY, maxStalledCount: 0 }
    const workers = [...names].map(name =>
      this.#connections.worker<Work>(name, options, async ({ data, timestamp }) => {
        if (this.#wallClock() - timestamp <= STALE_MS) await listener(data)
      }),
    )
    return async () => {
      await Promise.all(workers.map(worker => worker.stop()))
    }
  }
}
