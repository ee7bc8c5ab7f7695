import { Refusal } from '@parley/contract'
import { type ParleyError, TaskThread } from '@parley/kernel'
import { ApiError } from '../errors.ts'
import type { DraftTask, DraftWorkName, DraftWorkResult } from './draft-work.ts'
import type { ReadOutcome, ReadTask } from './read-task.ts'
import type { SplitOutcome, SplitTask } from './split-message.ts'

/** How much is read at once; each with a default. */
export interface ReadingLimits {
  /** Threads, each started when it is first needed. Default 2. */
  readonly threads: number
  /** Bodies that wait for a thread. Default 8. */
  readonly waiting: number
  /** Of them and of those being read, how many are one environment's. Default 4. */
  readonly perTenant: number
  /** A body that takes longer ends its thread, in ms. Default 30 000. */
  readonly timeoutMs: number
  /** Heap of a thread, MiB. Default 512. */
  readonly heapMiB: number
}

const DEFAULT_LIMITS: ReadingLimits = { threads: 2, waiting: 8, perTenant: 4, timeoutMs: 30_000, heapMiB: 512 }

/** For how long a refused sender should wait, in seconds. */
const RETRY_AFTER_SECONDS = 2

type Task = ReadTask | SplitTask | DraftTask
type Outcome = ReadOutcome | SplitOutcome | DraftWorkResult<DraftWorkName>
type Thread = TaskThread<Task, Outcome>

interface Job {
  readonly task: Task
  readonly tenantId: string
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Threads that read large bodies and do what is long with large drafts, so that nobody's request waits for another's. They start when they are needed, are
 * replaced when they crash or hang, and keep no process alive.
 */
export class ReadingThreads {
  readonly #limits: ReadingLimits
  readonly #threads: readonly Thread[]
  readonly #idle: Thread[]
  readonly #busy = new Map<Thread, Job>()
  readonly #queue: Job[] = []
  #isClosed = false

  /** `script`: what a thread runs; default: the one that reads. */
  constructor(limits: Partial<ReadingLimits> = {}, script = new URL('./reading-thread.ts', import.meta.url)) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
    const { threads, timeoutMs, heapMiB } = this.#limits
    this.#threads = Array.from(
      { length: threads },
      () => new TaskThread({ name: 'reading', script, timeoutMs, heapMiB }),
    )
    this.#idle = [...this.#threads]
  }

  /**
   * Rejects with the refusal `rate_limited` where too many bodies are read already, and with `ParleyError`
   * `reading_failed` (retryable) where the thread crashed, hung or was closed.
   */
  read(tenantId: string, task: ReadTask): Promise<ReadOutcome> {
    return this.#run(tenantId, task) as Promise<ReadOutcome>
  }

  /** Takes a message of tools apart; rejects as `read` does. */
  split(tenantId: string, task: SplitTask): Promise<SplitOutcome> {
    return this.#run(tenantId, task) as Promise<SplitOutcome>
  }

  /** Does work on a draft; rejects as `read` does. */
  work<Name extends DraftWorkName>(tenantId: string, task: DraftTask<Name>): Promise<DraftWorkResult<Name>> {
    return this.#run(tenantId, task as DraftTask) as Promise<DraftWorkResult<Name>>
  }

  #run(tenantId: string, task: Task): Promise<Outcome> {
    if (this.#isClosed) return Promise.reject(closed())
    const all = [...this.#busy.values(), ...this.#queue]
    const own = all.filter(job => job.tenantId === tenantId).length
    const { threads, waiting, perTenant } = this.#limits
    if (all.length >= threads + waiting || own >= perTenant) return Promise.reject(tooMany(own >= perTenant))
    return new Promise((resolve, reject) => {
      this.#queue.push({ task, tenantId, resolve, reject })
      this.#next()
    })
  }

  /** What is read or waits is rejected. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of [...this.#queue.splice(0), ...this.#busy.values()]) reject(closed())
    await Promise.all(this.#threads.map(thread => thread.close()))
  }

  #next(): void {
    while (this.#idle.length > 0) {
      const at = this.#queue.findIndex(job => this.#mayRun(job))
      if (at === -1) return
      void this.#assign(this.#idle.pop()!, this.#queue.splice(at, 1)[0]!)
    }
  }

  /** One environment leaves a thread to all others, where there is more than one. */
  #mayRun({ tenantId }: Job): boolean {
    const held = [...this.#busy.values()].filter(job => job.tenantId === tenantId).length
    return held < Math.max(1, this.#limits.threads - 1)
  }

  async #assign(thread: Thread, job: Job): Promise<void> {
    this.#busy.set(thread, job)
    try {
      job.resolve(await thread.run(job.task))
    } catch (error) {
      job.reject(failed(error))
    }
    this.#busy.delete(thread)
    this.#idle.push(thread)
    this.#next()
  }
}

function failed(cause: unknown): ParleyError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new ApiError('reading_failed', message, { cause })
}

function closed(): ParleyError {
  return failed(new Error('The reading threads were closed.'))
}

function tooMany(isOwn: boolean): Refusal {
  const whose = isOwn ? 'of this environment' : 'here'
  return new Refusal(
    'rate_limited',
    `too many large bodies and drafts are worked on ${whose}: send it again in a moment`,
    {
      reason: 'request_rate',
      details: { retry_after_seconds: RETRY_AFTER_SECONDS },
    },
  )
}
