/** One kind of event with any number of listeners. A listener that throws does not stop the others. */
export class Emitter<Event> {
  /** Replaced when it changes, so that an event that is being delivered keeps its listeners, and none needs a copy of them. */
  #listeners: readonly Listening<Event>[] = []
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void = rethrowLater) {
    this.#onListenerError = onListenerError
  }

  /** Returns the function that removes the listener; after it returned the listener is never called again. */
  listen(listener: (event: Event) => void): () => void {
    // Each call adds its own entry: a function that is added twice is called twice, and each removal removes one entry.
    const listening = { listener, isRemoved: false }
    this.#listeners = [...this.#listeners, listening]
    return () => {
      listening.isRemoved = true
      this.#listeners = this.#listeners.filter(other => other !== listening)
    }
  }

  /** Calls the current listeners in the order in which they were added. A listener that is added meanwhile receives the next event. */
  emit(event: Event): void {
    for (const listening of this.#listeners) {
      if (listening.isRemoved) continue
      try {
        listening.listener(event)
      } catch (error) {
        this.#onListenerError(error)
      }
    }
  }

  get listenerCount(): number {
    return this.#listeners.length
  }
}

interface Listening<Event> {
  readonly listener: (event: Event) => void
  isRemoved: boolean
}

/** A listener's error must not be lost: it becomes an uncaught exception after the emit. */
function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
