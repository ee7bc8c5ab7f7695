import { setTimeout as pause } from 'node:timers/promises'
import type { RunKind } from '@parley/store'
import type { RunQueue, Work } from '../protocol.ts'
import type { BullConnections } from './bull-connections.ts'

/** A wake-up that no process took for this long is of no use: the sweep has offered the run since. */
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
/** Wake-ups that come so soon after one that left wait for each other, ms. */
const GATHER_MS = 10
/** Most wake-ups in one job. More would give one engine many calls while others are idle. */
const TOGETHER = 8
/** Most wake-ups that wait for those under way. One beyond them is lost, and the sweep finds its run. */
const MOST_WAITING = 5000

/** A wake-up, and those that came while another one was under way. An earlier release, which knows none of them, wakes the first. */
interface WakeUps extends Work {
  readonly more?: readonly Work[]
}

/**
 * Wake-ups on BullMQ: each is given to one process, once, and only wakes it. The run waits in the database; a queue that
 * is away costs time and loses nothing. A wake-up leaves at once; those that come while it is under way, or within 10 ms, leave together
 * after it, since a job costs the database as much as the admission of a run.
 */
export class BullRunQueue implements RunQueue {
  readonly #connections: BullConnections
  readonly #wallClock: () => number
  /** Wake-ups that wait for those under way, by queue. */
  readonly #waiting = new Map<string, Work[]>()

  constructor(connections: BullConnections, wallClock: () => number) {
    this.#connections = connections
    this.#wallClock = wallClock
  }

  wake({ kind, run_id, scope }: Work): void {
    if (this.#connections.isClosed) return
    const { owner_id, environment, tenant_id } = scope
    const work: Work = { kind, run_id, scope: { owner_id, environment, tenant_id } }
    const name = QUEUES[kind]
    const waiting = this.#waiting.get(name)
    if (waiting === undefined) void this.#add(name, work)
    else if (waiting.length < MOST_WAITING) waiting.push(work)
    else this.#connections.problem('a wake-up was lost', new Error(`${MOST_WAITING} others wait for the queue ${name}`))
  }

  async listen(kinds: readonly RunKind[], listener: (work: Work) => Promise<void>): Promise<() => Promise<void>> {
    const names = new Set(kinds.map(kind => QUEUES[kind]))
    // A job that its process lost is not given to another: the run is claimed, or the sweep finds it.
    const options = { concurrency: CONCURRENCY, maxStalledCount: 0 }
    const workers = [...names].map(name =>
      this.#connections.worker<WakeUps>(name, options, async ({ data, timestamp }) => {
        if (this.#wallClock() - timestamp > STALE_MS) return
        const { more = [], ...first } = data
        await Promise.all([first, ...more].map(listener))
      }),
    )
    return async () => {
      await Promise.all(workers.map(worker => worker.stop()))
    }
  }

  /** Adds the wake-up, and then those that came meanwhile. Never rejects. */
  async #add(name: string, work: Work): Promise<void> {
    const waiting = [work]
    this.#waiting.set(name, waiting)
    while (true) {
      const [first, ...more] = waiting.splice(0, TOGETHER)
      if (first === undefined) break
      const added = this.#connections
        .queue<WakeUps>(name)
        .add(first.kind, more.length === 0 ? first : { ...first, more }, ONCE)
        .catch(error => this.#connections.problem('wake-ups were lost', error))
      await (waiting.length < TOGETHER ? Promise.all([added, pause(GATHER_MS)]) : added)
    }
    this.#waiting.delete(name)
  }
}
