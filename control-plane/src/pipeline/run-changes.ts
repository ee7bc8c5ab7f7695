import type { Bus } from '@parley/store'

/**
 * Lets requests wait for changes of runs over one bus subscription. The bus may lose a message, so a request also reads
 * the run again when its wait times out.
 */
export class RunChanges {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #unsubscribe: () => void

  constructor(bus: Pick<Bus, 'subscribe'>) {
    const resolveAll = () => {
      for (const runId of [...this.#waiting.keys()]) this.#resolve(runId)
    }
    this.#unsubscribe = bus.subscribe('runs', runId => this.#resolve(runId), resolveAll)
  }

  /** Resolves when the bus reports a change of the run, when `signal` fires, or after `withinMs`. Never rejects. */
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

  /** Resolves all waits and ends the subscription. */
  close(): void {
    this.#unsubscribe()
    for (const runId of [...this.#waiting.keys()]) this.#resolve(runId)
  }

  #resolve(runId: string): void {
    for (const over of [...(this.#waiting.get(runId) ?? [])]) over()
  }
}
