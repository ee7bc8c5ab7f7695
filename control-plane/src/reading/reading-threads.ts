import { Refusal } from '@parley/contract'
import { type ParleyError, TaskThread } from '@parley/kernel'
import { ApiError } from '../errors.ts'
import type { DraftTask, DraftWorkName, DraftWorkResult } from './draft-work.ts'
import type { ReadOutcome, ReadTask } from './read-task.ts'
import type { SplitOutcome, SplitTask } from './split-message.ts'

/** Limits of the worker threads. */
export interface ReadingLimits {
  /** Number of threads; each starts when it is first needed. Default 2. */
  readonly threads: number
  /** Maximum of tasks that wait for a thread. Default 8. */
  readonly waiting: number
  /** Maximum of waiting and running tasks of one environment. Default 4. */
  readonly perTenant: number
  /** A task that takes longer ends its thread, in ms. Default 30 000. */
  readonly timeoutMs: number
  /** Heap limit of a thread in MiB. Default 512. */
  readonly heapMiB: number
}

const DEFAULT_LIMITS: ReadingLimits = { threads: 2, waiting: 8, perTenant: 4, timeoutMs: 30_000, heapMiB: 512 }

/** Retry-After of a refused request. */
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
 * Worker threads that parse large bodies and work on large drafts, so that other requests do not wait for this work. A
 * thread starts when it is needed, is replaced when it crashes or hangs, and does not keep the process alive.
 */
export class ReadingThreads {
  readonly #limits: ReadingLimits
  readonly #threads: readonly Thread[]
  readonly #idle: Thread[]
  readonly #busy = new Map<Thread, Job>()
  readonly #queue: Job[] = []
  #isClosed = false

  /** `script`: the script of the threads. Default: `reading-thread.ts`. */
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
   * Parses a large request. Rejects with the refusal `rate_limited` if too many tasks run or wait, and with
   * `reading_failed` (retryable) if the thread crashed, hung or was closed.
   */
  read(tenantId: string, task: ReadTask): Promise<ReadOutcome> {
    return this.#run(tenantId, task) as Promise<ReadOutcome>
  }

  /** Splits a large MCP message; rejects as `read` does. */
  split(tenantId: string, task: SplitTask): Promise<SplitOutcome> {
    return this.#run(tenantId, task) as Promise<SplitOutcome>
  }

  /** Works on a large draft; rejects as `read` does. */
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

  /** Rejects running and waiting tasks and ends the threads. Idempotent. */
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

  /** One environment uses all threads but one, so that the others do not wait for it. */
  #mayRun({ tenantId }: Job): boolean {
    const running = [...this.#busy.values()].filter(job => job.tenantId === tenantId).length
    return running < Math.max(1, this.#limits.threads - 1)
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
  const whose = isOwn ? 'of this environment' : 'of all environments'
  return new Refusal(
    'rate_limited',
    `too many large bodies and drafts ${whose} are in work: send the request again in a moment`,
    {
      reason: 'request_rate',
      details: { retry_after_seconds: RETRY_AFTER_SECONDS },
    },
  )
}
