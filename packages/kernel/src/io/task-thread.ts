import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { errorsOf } from '../errors.ts'

const TaskThreadError = errorsOf({
  thread_closed: { retryable: false, text: 'The thread was closed.' },
  thread_failed: { retryable: true, text: 'The thread crashed, ended or did not answer in time.' },
})

interface TaskThreadOptions {
  /** Appears in thread lists and error messages. */
  readonly name: string
  readonly script: URL
  /** A task that takes longer than this ends the thread. */
  readonly timeoutMs: number
  /** Heap limit of the thread in MiB; WebAssembly memory and array buffers are not included. */
  readonly heapMiB: number
  /** A task whose array buffers and other memory outside the heap exceed this ends the thread, in MiB. Default: no limit. */
  readonly externalMiB?: number
  /** A thread without a task ends after this, and the next task starts another; default: it stays. */
  readonly idleMs?: number
}

/** How often the memory of a running task is measured. */
const MEASURE_MS = 100
const MIB = 1_048_576

/**
 * A worker thread that answers one message with one message. It starts with the first task, is replaced after a crash
 * or a timeout, and does not keep the process alive while it is idle. The caller must run one task at a time.
 */
export class TaskThread<Task, Outcome> {
  readonly #options: TaskThreadOptions
  #worker: Worker | null = null
  #closed = false
  #isBusy = false
  #idle: NodeJS.Timeout | undefined

  constructor(options: TaskThreadOptions) {
    this.#options = options
  }

  /** Rejects with "thread_failed" (retryable) or "thread_closed". `data` is the `workerData` of a thread that starts; default null. */
  run(task: Task, data: unknown = null): Promise<Outcome> {
    const { name, timeoutMs } = this.#options
    if (this.#closed) return Promise.reject(new TaskThreadError('thread_closed', `The ${name} thread was closed.`))
    this.#worker ??= this.#start(data)
    clearTimeout(this.#idle)
    this.#isBusy = true
    const worker = this.#worker
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timeout)
        clearInterval(measuring)
        worker.off('message', onMessage)
        worker.off('error', onError)
        worker.off('exit', onExit)
        worker.unref()
        this.#isBusy = false
        this.#endWhenIdle()
      }
      const fail = (what: string) => {
        settle()
        this.#abandon(worker)
        const code = this.#closed ? 'thread_closed' : 'thread_failed'
        reject(new TaskThreadError(code, `The ${name} thread ${what}.`))
      }
      const onMessage = (outcome: Outcome) => {
        settle()
        resolve(outcome)
      }
      const onError = (error: unknown) => fail(`crashed: ${error instanceof Error ? error.message : String(error)}`)
      const onExit = () => fail('ended')
      const timeout = setTimeout(() => fail(`did not answer within ${timeoutMs} ms`), timeoutMs)
      const measuring = this.#measure(worker, () => fail('used too much memory'))
      worker.on('message', onMessage)
      worker.on('error', onError)
      worker.on('exit', onExit)
      worker.ref()
      worker.postMessage(task)
    })
  }

  /** Starts the thread, or keeps it, for a task that is expected soon. */
  prepare(data: unknown = null): void {
    if (this.#closed) return
    this.#worker ??= this.#start(data)
    if (!this.#isBusy) this.#endWhenIdle()
  }

  /** Also ends a running task. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await this.#worker?.terminate()
  }

  /** Calls `onExceeded` once the thread's memory outside its heap exceeds the limit. */
  #measure(worker: Worker, onExceeded: () => void): NodeJS.Timeout | undefined {
    const { externalMiB } = this.#options
    if (externalMiB === undefined) return undefined
    return setInterval(() => {
      worker.getHeapStatistics().then(
        ({ external_memory: bytes }) => {
          if (bytes > externalMiB * MIB && this.#worker === worker) onExceeded()
        },
        // The thread has ended.
        () => {},
      )
    }, MEASURE_MS)
  }

  #start(data: unknown): Worker {
    const { name, script, heapMiB } = this.#options
    const worker = new Worker(script, {
      name,
      workerData: data,
      env: compileCache(),
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    })
    // This notices an idle thread that dies; without a listener its error would end the process.
    worker.on('error', () => this.#abandon(worker))
    worker.on('exit', () => this.#abandon(worker))
    worker.unref()
    return worker
  }

  #endWhenIdle(): void {
    const { idleMs } = this.#options
    clearTimeout(this.#idle)
    if (idleMs === undefined || this.#closed) return
    this.#idle = setTimeout(() => {
      if (this.#worker !== null) this.#abandon(this.#worker)
    }, idleMs).unref()
  }

  #abandon(worker: Worker): void {
    if (this.#worker === worker) this.#worker = null
    void worker.terminate()
  }
}

/**
 * Of the environment a thread gets only where compiled modules are kept: without it, it would load a compiler of its own to strip types,
 * which takes 10 MB and 0.2 s.
 */
function compileCache(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  // Node adds a folder for its version to the one it is given.
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) }
}
