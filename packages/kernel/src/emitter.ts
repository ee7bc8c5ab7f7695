/** One kind of event with any number of listeners. A listener that throws does not keep the others from hearing. */
export class Emitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void = rethrowLater) {
    this.#onListenerError = onListenerError
  }

  /** Returns the function that removes the listener. */
  listen(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  emit(event: Event): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event)
      } catch (error) {
        this.#onListenerError(error)
      }
    }
  }

  get listenerCount(): number {
    return this.#listeners.size
  }
}

/** A listener's bug must be seen: it surfaces as an uncaught exception of its own, after the emit. */
function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
