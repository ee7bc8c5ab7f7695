import { Emitter } from './emitter.ts'

interface BufferedEmitterOptions {
  /** Receives what a listener throws; default: it surfaces as an uncaught exception, as `Emitter` does. */
  readonly onListenerError?: (error: unknown) => void
  /** Called when an event waits and there is a listener; it has to cause a call of `deliverOne`. Default: events are delivered at once. */
  readonly schedule?: () => void
}

/** An emitter that stores its events until the first listener is added; that listener receives them first, in order. */
export class BufferedEmitter<Event> {
  readonly #emitter: Emitter<Event>
  readonly #schedule: () => void
  readonly #waiting: Event[] = []
  /** Whether a listener was ever added. */
  #hadListener = false

  constructor({ onListenerError, schedule }: BufferedEmitterOptions = {}) {
    this.#emitter = new Emitter(onListenerError)
    this.#schedule = schedule ?? (() => this.#deliverAll())
  }

  /** Number of events that are not delivered yet. The owner limits it if the events come from outside. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Returns the function that removes the listener. Events after the removal of the only listener are dropped. */
  listen(listener: (event: Event) => void): () => void {
    const remove = this.#emitter.listen(listener)
    this.#hadListener = true
    if (this.#waiting.length > 0) this.#schedule()
    return remove
  }

  emit(event: Event): void {
    this.#waiting.push(event)
    if (this.#hadListener) this.#schedule()
  }

  /** Delivers the oldest event. False if none waits, or no listener was ever added. */
  deliverOne(): boolean {
    if (!this.#hadListener || this.#waiting.length === 0) return false
    this.#emitter.emit(this.#waiting.shift()!)
    return true
  }

  #deliverAll(): void {
    while (this.deliverOne());
  }
}
