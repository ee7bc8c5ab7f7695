import type { WaitTimer } from './wait-timer.ts'

interface PendingModelRequest {
  readonly controller: AbortController
  readonly over: Promise<void>
  /** Called once: the request is answered or aborted. */
  end(): void
}

/** The requests to models that are under way, by the flow's request id. An aborted request gives no answer. */
export class PendingModelRequests {
  readonly #waits: WaitTimer
  readonly #thoughts = new Map<string, PendingModelRequest>()

  constructor(waits: WaitTimer) {
    this.#waits = waits
  }

  /**
   * Begins `work`, which never rejects, and gives its answer to `done` unless it is aborted before. `work` gets a
   * function to call at the first words: the time that the caller waits for the model ends there.
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
      this.#thoughts.delete(requestId)
      resolve()
    }
    this.#thoughts.set(requestId, { controller, over, end })
    void work(controller.signal, speaks).then(answer => {
      if (controller.signal.aborted) return
      end()
      done(answer)
    })
  }

  abort(requestId: string): void {
    const thought = this.#thoughts.get(requestId)
    thought?.controller.abort()
    thought?.end()
  }

  abortAll(): void {
    for (const requestId of [...this.#thoughts.keys()]) this.abort(requestId)
  }

  /** Resolves when the request is answered or aborted; at once where there is none. */
  async over(requestId: string): Promise<void> {
    await this.#thoughts.get(requestId)?.over
  }

  get isBusy(): boolean {
    return this.#thoughts.size > 0
  }
}
