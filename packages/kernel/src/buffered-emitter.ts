import { Emitter } from './emitter.ts'

interface BufferedEmitterOptions {
  /** Receives what a listener throws; default: it surfaces as an uncaught exception, as `Emitter` does. */
  readonly onListenerError?: (error: unknown) => void
  /** Called when an event waits and somebody listens; it has to lead to `deliverOne`. Default: delivers at once. */
  readonly schedule?: () => void
}

/** An emitter that keeps its events until the first listener comes; that one gets them first, in order. */
export class BufferedEmitter<Event> {
  readonly #emitter: Emitter<Event>
  readonly #schedule: () => void
  readonly #waiting: Event[] = []
  /** Whether there was a listener ever. */
  #hadListener = false

  constructor({ onListenerError, schedule }: BufferedEmitterOptions = {}) {
    this.#emitter = new Emitter(onListenerError)
    this.#schedule = schedule ?? (() => this.#deliverAll())
  }

  /** Events not delivered yet: the owner bounds them where they come from outside. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Returns the function that removes the listener. Later events of a removed only listener are dropped, not kept. */
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

  /** Delivers the oldest event. False where none waits, or nobody has listened yet. */
  deliverOne(): boolean {
    if (!this.#hadListener || this.#waiting.length === 0) return false
    this.#emitter.emit(this.#waiting.shift()!)
    return true
  }

  #deliverAll(): void {
    while (this.deliverOne());
  }
}
