import { type Ms, ParleyError, Semaphore, TaskThread } from '@parley/kernel'
import type { ReadOutcome, ReadTask } from '../reading/read-document.ts'

interface ReaderLimits {
  /** A document that takes longer is unreadable. Default 30 000. */
  readonly timeoutMs?: Ms
  /** Heap of the thread. Default 512. */
  readonly heapMiB?: number
  /** Array buffers and other memory of the thread outside its heap. Default 512. */
  readonly externalMiB?: number
}

/**
 * Reads documents in a worker thread, one at a time. A file that crashes the thread, or exceeds its time or memory, is
 * unreadable; the next one gets a new thread.
 */
export class DocumentReader {
  readonly #thread: TaskThread<ReadTask, ReadOutcome>
  readonly #turn = new Semaphore(1)

  constructor({ timeoutMs = 30_000, heapMiB = 512, externalMiB = 512 }: ReaderLimits = {}) {
    const script = new URL('./reading-thread.ts', import.meta.url)
    this.#thread = new TaskThread({ name: 'documents', script, timeoutMs, heapMiB, externalMiB })
  }

  /** Rejects with "thread_closed" after `close`. */
  async read(task: ReadTask): Promise<ReadOutcome> {
    try {
      return await this.#turn.run(() => this.#thread.run(task))
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'thread_failed')
        return { type: 'unreadable', error: 'Reading the document took too much time or memory.' }
      throw error
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
