import type { Scope } from '@parley/contract'
import type { EnvironmentQueue } from '@parley/runs'
import type { DueWork } from '@parley/store'

interface Worker {
  readonly concurrency: number
  readonly round: (scope: Scope) => Promise<void>
}

/** The queue of environments in memory: in order, of one environment one round at a time. Timers are only recorded. */
export class MemoryEnvironmentQueue implements EnvironmentQueue {
  /** Each call of `wake`, by kind of work. */
  readonly woken: [DueWork, string][] = []
  readonly timers: { readonly work: DueWork; readonly scope: Scope; readonly inMs: number }[] = []
  readonly #waiting: [DueWork, Scope][] = []
  readonly #active = new Set<string>()
  readonly #workers = new Map<DueWork, Worker>()
  #running = 0

  wake(work: DueWork, scope: Scope): void {
    this.woken.push([work, scope.tenant_id])
    const isWaiting = this.#waiting.some(([other, { tenant_id }]) => other === work && tenant_id === scope.tenant_id)
    if (!isWaiting) this.#waiting.push([work, scope])
    this.#run()
  }

  wakeIn(work: DueWork, scope: Scope, inMs: number): void {
    this.timers.push({ work, scope, inMs })
  }

  async listen(work: DueWork, concurrency: number, round: Worker['round']): Promise<() => Promise<void>> {
    this.#workers.set(work, { concurrency, round })
    this.#run()
    return async () => void this.#workers.delete(work)
  }

  #run(): void {
    for (const [index, [work, scope]] of this.#waiting.entries()) {
      const worker = this.#workers.get(work)
      const key = `${work}/${scope.tenant_id}`
      if (worker === undefined || this.#active.has(key) || this.#running >= worker.concurrency) continue
      this.#waiting.splice(index, 1)
      this.#active.add(key)
      this.#running++
      void worker.round(scope).finally(() => {
        this.#active.delete(key)
        this.#running--
        this.#run()
      })
      return this.#run()
    }
  }
}
