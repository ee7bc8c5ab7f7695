import { setTimeout as pause } from 'node:timers/promises'
import type { RunKind } from '@parley/store'
import { createPostgresBackend, type PostgresConnectionOptions, Queue, Worker, withBackend } from 'bullmq'
import type { RunQueue, Work } from '../protocol.ts'

/** A wake-up that nobody took for so long is of no use: the sweep has been there since. */
const STALE_MS = 30_000
/** Between two lines of trouble. */
const SILENT_MS = 10_000
/** Works begun at once by one process. */
const CONCURRENCY = 64
/** A worker that is still connecting may take so long before it is closed all the same. */
const CONNECTED_WITHIN_MS = 5000
/** Under this name everything of the queues stands, in Postgres and in Redis. */
const NAMESPACE = 'parley_queue'
/** Calls are for engines, all else is for workers: each takes from its own queue. */
const QUEUES: Readonly<Record<RunKind, 'calls' | 'texts'>> = {
  phone: 'calls',
  web: 'calls',
  task: 'texts',
  chat: 'texts',
  background: 'texts',
}

export interface BullRunQueueOptions {
  /** Where the queues are; the Postgres role may create a schema. */
  readonly on: { readonly postgres: string } | { readonly redis: string }
  readonly wallClock: () => number
  /** One line when a queue goes away. */
  readonly onProblem: (line: string) => void
}

/** What is used of a queue and of a worker, whatever they stand on. */
interface AnyQueue {
  add(name: string, work: Work, options: typeof ONCE): Promise<unknown>
  on(event: 'error', listener: (error: Error) => void): unknown
  close(): Promise<void>
}
interface AnyWorker {
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(force?: boolean): Promise<void>
}

/**
 * Wake-ups on BullMQ, over Postgres or Redis: each is given to one process, once, and only wakes it. What waits is in the
 * database; a queue that is away loses nothing but time.
 */
export class BullRunQueue implements RunQueue {
  readonly #options: BullRunQueueOptions
  readonly #queues = new Map<string, AnyQueue>()
  readonly #workers = new Set<AnyWorker>()
  #isClosed = false
  #silentUntil = 0

  constructor(options: BullRunQueueOptions) {
    this.#options = options
  }

  wake(work: Work): void {
    if (this.#isClosed) return
    const { kind, run_id, scope } = work
    const { owner_id, environment, tenant_id } = scope
    this.#queue(QUEUES[kind])
      .add(kind, { kind, run_id, scope: { owner_id, environment, tenant_id } }, ONCE)
      .catch(error => this.#problem('a wake-up was lost', error))
  }

  async listen(kinds: readonly RunKind[], listener: (work: Work) => Promise<void>): Promise<() => Promise<void>> {
    const names = new Set(kinds.map(kind => QUEUES[kind]))
    const workers = [...names].map(name => this.#worker(name, listener))
    return async () => {
      for (const worker of workers) this.#workers.delete(worker)
      await Promise.all(workers.map(worker => closed(worker, true)))
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const workers = [...this.#workers].map(worker => closed(worker, false))
    const queues = [...this.#queues.values()].map(queue => queue.close().catch(() => {}))
    await Promise.all([...workers, ...queues])
  }

  #queue(name: string): AnyQueue {
    const known = this.#queues.get(name)
    if (known !== undefined) return known
    const { on } = this.#options
    const queue: AnyQueue =
      'redis' in on
        ? new Queue<Work>(name, { connection: { url: on.redis }, prefix: NAMESPACE })
        : new Bull.Queue<Work>(name, { connection: postgresAt(on.postgres) })
    queue.on('error', error => this.#problem(`the queue ${name} is away`, error))
    this.#queues.set(name, queue)
    return queue
  }

  #worker(name: string, listener: (work: Work) => Promise<void>): AnyWorker {
    const { on, wallClock } = this.#options
    const process = async (job: { readonly data: Work; readonly timestamp: number }) => {
      if (wallClock() - job.timestamp <= STALE_MS) await listener(job.data)
    }
    // A job that its process lost is not given to another: the run is claimed, or the sweep finds it.
    const options = { concurrency: CONCURRENCY, maxStalledCount: 0, drainDelay: 1 }
    const worker: AnyWorker =
      'redis' in on
        ? new Worker<Work>(name, process, {
            ...options,
            connection: { url: on.redis, maxRetriesPerRequest: null },
            prefix: NAMESPACE,
          })
        : new Bull.Worker<Work>(name, process, { ...options, connection: postgresAt(on.postgres) })
    this.#workers.add(worker)
    // One that was told to stop has its own query cut: no queue is away for that.
    worker.on('error', error => {
      if (this.#workers.has(worker)) this.#problem(`the queue ${name} is away`, error)
    })
    return worker
  }

  /** A queue that is away says so many times over. */
  #problem(what: string, error: unknown): void {
    const now = this.#options.wallClock()
    if (this.#isClosed || now < this.#silentUntil) return
    this.#silentUntil = now + SILENT_MS
    this.#options.onProblem(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const Bull = withBackend(createPostgresBackend)
const ONCE = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const

function postgresAt(connectionString: string): PostgresConnectionOptions {
  return { connectionString, schema: NAMESPACE, migrate: true, max: 3, application_name: 'parley-queue' }
}

/** Closed while it connects, a worker would open one more connection afterwards, which nobody ends. */
async function closed(worker: AnyWorker, force: boolean): Promise<void> {
  const connected = worker.waitUntilReady().catch(() => {})
  const waiting = new AbortController()
  const late = pause(CONNECTED_WITHIN_MS, undefined, { signal: waiting.signal }).catch(() => {})
  await Promise.race([connected, late]).finally(() => waiting.abort())
  await worker.close(force).catch(() => {})
}
