import { setTimeout as pause } from 'node:timers/promises'
import {
  createPostgresBackend,
  type JobsOptions,
  type PostgresConnectionOptions,
  Queue,
  Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq'

/** At most one line is logged in this time about queues that cannot be reached. */
const SILENT_MS = 10_000
/** A worker that is still connecting is closed after this long all the same. */
const CONNECTED_WITHIN_MS = 5000
/** Schema of the queues in Postgres, prefix of their keys in Redis. */
const NAMESPACE = 'parley_queue'

export interface BullOptions {
  /** Where the queues are; the Postgres role may create a schema. */
  readonly on: { readonly postgres: string } | { readonly redis: string }
  readonly wallClock: () => number
  /** Receives one line when a queue goes away. */
  readonly onProblem: (line: string) => void
}

/** The part of BullMQ's job that is the same on Postgres and Redis. */
interface BullJob<Data> {
  readonly data: Data
  /** Unix ms at which it was added. */
  readonly timestamp: number
}

/** The part of BullMQ's queue that is the same on Postgres and Redis. */
interface BullQueue<Data> {
  add(name: string, data: Data, options: JobsOptions): Promise<unknown>
}

interface Closable {
  on(event: 'error', listener: (error: Error) => void): unknown
  close(force?: boolean): Promise<void>
}
interface AnyQueue extends Closable, BullQueue<unknown> {}
interface AnyWorker extends Closable {
  waitUntilReady(): Promise<unknown>
}

/** `drainDelay` keeps its default: a worker without jobs looks every 5 s for one of which no notification came. */
type BullWorkerOptions = Pick<WorkerOptions, 'concurrency' | 'maxStalledCount' | 'lockDuration' | 'stalledInterval'>

/** Queues and workers of BullMQ over Postgres or Redis, by name, and what they report when they are away. */
export class BullConnections {
  readonly #options: BullOptions
  readonly #queues = new Map<string, AnyQueue>()
  readonly #workers = new Set<AnyWorker>()
  #isClosed = false
  #silentUntil = 0

  constructor(options: BullOptions) {
    this.#options = options
  }

  /** True once `close` was called: nothing is added any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  queue<Data>(name: string): BullQueue<Data> {
    const known = this.#queues.get(name)
    if (known !== undefined) return known
    const { on } = this.#options
    const queue: AnyQueue =
      'redis' in on
        ? new Queue<unknown>(name, { connection: { url: on.redis }, prefix: NAMESPACE })
        : new PostgresBull.Queue<unknown>(name, { connection: postgresAt(on.postgres) })
    queue.on('error', error => this.problem(`the queue ${name} is away`, error))
    this.#queues.set(name, queue)
    return queue
  }

  /** Starts a worker of a queue; `stop` lets go of its jobs without waiting for them. */
  worker<Data>(
    name: string,
    options: BullWorkerOptions,
    process: (job: BullJob<Data>) => Promise<void>,
  ): { stop(): Promise<void> } {
    const { on } = this.#options
    const worker: AnyWorker =
      'redis' in on
        ? new Worker<Data>(name, process, {
            ...options,
            connection: { url: on.redis, maxRetriesPerRequest: null },
            prefix: NAMESPACE,
          })
        : new PostgresBull.Worker<Data>(name, process, { ...options, connection: postgresAt(on.postgres) })
    this.#workers.add(worker)
    // A worker that stops cuts its own query: this is no outage.
    worker.on('error', error => {
      if (this.#workers.has(worker)) this.problem(`the queue ${name} is away`, error)
    })
    return {
      stop: async () => {
        this.#workers.delete(worker)
        await closed(worker, true)
      },
    }
  }

  /** Reports a failure; a queue that is away fails many times over, so that only some become a line. */
  problem(what: string, error: unknown): void {
    const now = this.#options.wallClock()
    if (this.#isClosed || now < this.#silentUntil) return
    this.#silentUntil = now + SILENT_MS
    this.#options.onProblem(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }

  /** Waits for the jobs under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    const workers = [...this.#workers].map(worker => closed(worker, false))
    const queues = [...this.#queues.values()].map(queue => queue.close().catch(() => {}))
    await Promise.all([...workers, ...queues])
  }
}

const PostgresBull = withBackend(createPostgresBackend)

/**
 * A job need not survive a crash of the server, since the sweeps find what it would have started: its commit waits for no disk, and
 * the commits of the application have the disk for themselves.
 */
const UNSYNCED = '-c synchronous_commit=off'

function postgresAt(connectionString: string): PostgresConnectionOptions {
  return {
    connectionString,
    schema: NAMESPACE,
    migrate: true,
    max: 3,
    application_name: 'parley-queue',
    options: UNSYNCED,
  }
}

/** A worker that is closed while it connects would open one more connection afterwards, which nothing ends. */
async function closed(worker: AnyWorker, force: boolean): Promise<void> {
  const connected = worker.waitUntilReady().catch(() => {})
  const waiting = new AbortController()
  const late = pause(CONNECTED_WITHIN_MS, undefined, { signal: waiting.signal }).catch(() => {})
  await Promise.race([connected, late]).finally(() => waiting.abort())
  await worker.close(force).catch(() => {})
}
