import { type Ms, Semaphore, TaskThread } from '@parley/kernel'
import { ConversationError } from '../errors.ts'
import type { CodeResult, CodeTask } from './code-isolate.ts'

interface CodeOrder extends CodeTask {
  /** Longest wait for a thread. */
  readonly timeoutMs: Ms
}

export interface CodeRunner {
  /** Never rejects. */
  run(order: CodeOrder): Promise<CodeResult>
}

/** Threads, and how many runs may wait for one. */
const THREADS = 2
const MAX_WAITING = 64
/** Processor time of one run, and the time after which its thread is ended because it does not answer. */
const CPU_MS = 1000
const THREAD_MS = 5000
const HEAP_MIB = 64

/**
 * Runs authors' code on threads beside the calls, each run in an interpreter of its own. Code that never ends takes one of the threads for
 * its processor time; calls, and runs on the other thread, go on.
 */
export class CodeThreads implements CodeRunner {
  readonly #threads: readonly TaskThread<CodeTask, CodeResult>[]
  readonly #idle: TaskThread<CodeTask, CodeResult>[]
  readonly #permits = new Semaphore(THREADS, {
    maxWaiting: MAX_WAITING,
    refuse: () => new ConversationError('code_unavailable', 'too much code of agents is waiting: try again later'),
  })

  constructor() {
    const script = new URL('./code-thread.ts', import.meta.url)
    this.#threads = Array.from(
      { length: THREADS },
      () => new TaskThread({ name: 'code', script, timeoutMs: THREAD_MS, heapMiB: HEAP_MIB }),
    )
    this.#idle = [...this.#threads]
  }

  async run({ timeoutMs, ...task }: CodeOrder): Promise<CodeResult> {
    try {
      if (!(await this.#permits.acquire(AbortSignal.timeout(timeoutMs))))
        return { ok: false, code: 'code_timeout', message: 'The code waited for a thread for too long.' }
    } catch {
      return { ok: false, code: 'code_unavailable', message: 'Too much code of agents is waiting.' }
    }
    const thread = this.#idle.pop()!
    try {
      return await thread.run(task, { cpuMs: CPU_MS })
    } catch {
      return { ok: false, code: 'code_timeout', message: 'The code did not end in time.' }
    } finally {
      this.#idle.push(thread)
      this.#permits.release()
    }
  }

  /** Ends the threads; code that runs fails. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.close()))
  }
}
