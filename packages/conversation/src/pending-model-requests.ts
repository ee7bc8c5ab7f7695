import type { WaitTimer } from './wait-timer.ts'

interface PendingModelRequest {
  readonly controller: AbortController
  readonly over: Promise<void>
  /** Called once: the request is answered or aborted. */
  end(): void
}

/** The model requests in progress, by the flow's request id. An aborted request delivers no answer. */
export class PendingModelRequests {
  readonly #waits: WaitTimer
  readonly #requests = new Map<string, PendingModelRequest>()

  constructor(waits: WaitTimer) {
    this.#waits = waits
  }

  /**
   * Starts `work`, which never rejects, and passes its answer to `done` unless the request is aborted before. `work` calls
   * `speaks` at the first words, where the caller's wait for the model ends.
   */
  begin<Answer>(
    requestId: string,
    work: (signal: AbortSignal, speaks: () => void) => Promise<Answer>,
    done: (answer: Answer) => void,
  ): void {
    const controller = new AbortController()
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const speaks = this.#waits.begin('model')
    const end = () => {
      speaks()
      this.#requests.delete(requestId)
      resolve()
    }
    this.#requests.set(requestId, { controller, over, end })
    void work(controller.signal, speaks).then(answer => {
      if (controller.signal.aborted) return
      end()
      done(answer)
    })
  }

  abort(requestId: string): void {
    const request = this.#requests.get(requestId)
    request?.controller.abort()
    request?.end()
  }

  abortAll(): void {
    for (const requestId of [...this.#requests.keys()]) this.abort(requestId)
  }

  /** Resolves when the request is answered or aborted; at once where there is none. */
  async over(requestId: string): Promise<void> {
    await this.#requests.get(requestId)?.over
  }

  get isBusy(): boolean {
    return this.#requests.size > 0
  }
}
