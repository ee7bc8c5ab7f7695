import type { Bus } from '@parley/store'

/**
 * Lets requests wait for news of runs: one subscription for all of them. The bus may lose a message: who waits looks
 * again when the time is over.
 */
export class RunChanges {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #unsubscribe: () => void

  constructor(bus: Pick<Bus, 'subscribe'>) {
    const tellAll = () => {
      for (const runId of [...this.#waiting.keys()]) this.#tell(runId)
    }
    this.#unsubscribe = bus.subscribe('runs', runId => this.#tell(runId), tellAll)
  }

  /** Resolves when there is news of the run, when `signal` fires, or after `withinMs`. Never rejects. */
  wait(runId: string, withinMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const over = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', over)
        const all = this.#waiting.get(runId)
        if (all?.delete(over) && all.size === 0) this.#waiting.delete(runId)
        resolve()
      }
      const timer = setTimeout(over, withinMs)
      signal?.addEventListener('abort', over, { once: true })
      this.#waiting.set(runId, (this.#waiting.get(runId) ?? new Set()).add(over))
    })
  }

  /** Nobody is left waiting. */
  close(): void {
    this.#unsubscribe()
    for (const runId of [...this.#waiting.keys()]) this.#tell(runId)
  }

  #tell(runId: string): void {
    for (const over of [...(this.#waiting.get(runId) ?? [])]) over()
  }
}
