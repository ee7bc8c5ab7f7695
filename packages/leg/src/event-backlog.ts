import { Emitter } from '@parley/kernel'

/** An emitter whose first listener also gets what happened before it came. */
export class EventBacklog<Event> {
  readonly #emitter: Emitter<Event>
  /** Null once somebody listens. */
  #unheard: Event[] | null = []

  constructor(onListenerError: (error: unknown) => void) {
    this.#emitter = new Emitter(onListenerError)
  }

  listen(listener: (event: Event) => void): () => void {
    const stop = this.#emitter.listen(listener)
    const unheard = this.#unheard ?? []
    this.#unheard = null
    for (const event of unheard) this.#emitter.emit(event)
    return stop
  }

  emit(event: Event): void {
    if (this.#unheard === null) this.#emitter.emit(event)
    else this.#unheard.push(event)
  }
}
