/** One kind of event with any number of listeners. A listener that throws does not stop the others. */
export class Emitter<Event> {
  readonly #listeners = new Set<Listening<Event>>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void = rethrowLater) {
    this.#onListenerError = onListenerError
  }

  /** Returns the function that removes the listener; after it returned the listener is never called again. */
  listen(listener: (event: Event) => void): () => void {
    // Each call adds its own entry: a function that is added twice is called twice, and each removal removes one entry.
    const listening = { listener }
    this.#listeners.add(listening)
    return () => this.#listeners.delete(listening)
  }

  /** Calls the current listeners in the order in which they were added. A listener that is added meanwhile receives the next event. */
  emit(event: Event): void {
    for (const listening of [...this.#listeners]) {
      if (!this.#listeners.has(listening)) continue
      try {
        listening.listener(event)
      } catch (error) {
        this.#onListenerError(error)
      }
    }
  }

  get listenerCount(): number {
    return this.#listeners.size
  }
}

interface Listening<Event> {
  readonly listener: (event: Event) => void
}

/** A listener's error must not be lost: it becomes an uncaught exception after the emit. */
function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
