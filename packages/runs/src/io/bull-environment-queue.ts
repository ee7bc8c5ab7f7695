import type { Scope } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { DueWork } from '@parley/store'
import type { EnvironmentQueue } from '../protocol.ts'
import type { BullConnections } from './bull-connections.ts'

/** A round that fails is tried again after 1, 2, 4, 8 s; then the sweep finds what is due. */
const ATTEMPTS = 5
const BACKOFF = { type: 'exponential', delay: 1000 } as const
/** A worker that dies leaves its rounds to others after this long, at most with one interval of looking for such rounds. */
const LOCK_MS: Ms = 10_000
const LOOK_FOR_STALLED_MS: Ms = 5000

interface EnvironmentJob {
  readonly scope: Scope
  /** True: the job waited for its time, and only adds the environment's round. */
  readonly isTimer: boolean
}

/**
 * Rounds of environments on BullMQ. BullMQ's deduplication keeps one job per environment and kind of work, however much
 * is due, so that a queue is the order in which environments have their turns; a wake-up during a round makes one more
 * round after it.
 */
export class BullEnvironmentQueue implements EnvironmentQueue {
  readonly #connections: BullConnections
  /** Wake-ups on their way to the queue, by work and environment; true: another came meanwhile. */
  readonly #adding = new Map<string, boolean>()

  constructor(connections: BullConnections) {
    this.#connections = connections
  }

  wake(work: DueWork, scope: Scope): void {
    const key = `${work}/${scope.tenant_id}`
    if (this.#connections.isClosed) return
    if (this.#adding.has(key)) {
      this.#adding.set(key, true)
      return
    }
    this.#adding.set(key, false)
    const round = { id: scope.tenant_id, keepLastIfActive: true }
    void this.#add(work, scope, false, { deduplication: round, attempts: ATTEMPTS, backoff: BACKOFF }).then(() => {
      const again = this.#adding.get(key) === true
      this.#adding.delete(key)
      if (again) this.wake(work, scope)
    })
  }

  wakeIn(work: DueWork, scope: Scope, inMs: Ms): void {
    if (this.#connections.isClosed) return
    const timer = { id: `timer/${scope.tenant_id}`, reschedule: true }
    void this.#add(work, scope, true, { deduplication: timer, delay: Math.ceil(inMs), attempts: 1 })
  }

  async listen(
    work: DueWork,
    concurrency: number,
    round: (scope: Scope) => Promise<void>,
  ): Promise<() => Promise<void>> {
    const options = {
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOOK_FOR_STALLED_MS,
      maxStalledCount: ATTEMPTS,
    }
    const worker = this.#connections.worker<EnvironmentJob>(work, options, async ({ data: { scope, isTimer } }) => {
      if (isTimer) this.wake(work, scope)
      else await round(scope)
    })
    return () => worker.stop()
  }

  async #add(work: DueWork, scope: Scope, isTimer: boolean, options: object): Promise<void> {
    const { owner_id, environment, tenant_id } = scope
    try {
      await this.#connections.queue<EnvironmentJob>(work).add(
        isTimer ? 'timer' : 'round',
        { scope: { owner_id, environment, tenant_id }, isTimer },
        {
          ...options,
          removeOnComplete: true,
          removeOnFail: true,
        },
      )
    } catch (error) {
      this.#connections.problem(`a wake-up for ${work} was lost`, error)
    }
  }
}
