/** One kind of event with any number of listeners. A listener that throws does not keep the others from hearing. */
export class Emitter<Event> {
  readonly #listeners = new Set<Listening<Event>>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void = rethrowLater) {
    this.#onListenerError = onListenerError
  }

  /** Returns the function that removes the listener; after it returned the listener is never called again. */
  listen(listener: (event: Event) => void): () => void {
    // An entry of its own: a function that listens twice is called twice and removed once at a time.
    const listening = { listener }
    this.#listeners.add(listening)
    return () => this.#listeners.delete(listening)
  }

  /** Calls, in order of their arrival, those who listen now: whoever joins meanwhile hears the next event. */
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

/** A listener's bug must be seen: it surfaces as an uncaught exception of its own, after the emit. */
function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
