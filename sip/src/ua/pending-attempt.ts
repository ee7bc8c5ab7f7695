import type { EventDispatcher } from './event-dispatcher.ts'

/** Holds a request back until whoever has to know of it says that it may leave. */
export class PendingAttempt {
  readonly #pump: EventDispatcher
  #waits = false
  #closed = false

  constructor(pump: EventDispatcher) {
    this.#pump = pump
  }

  get waits(): boolean {
    return this.#waits
  }

  /** One of `pass` and `fail` follows, never synchronously; neither once the gate is closed, and then nobody is asked. */
  ask(ask: () => Promise<void>, then: { pass(): void; fail(error: unknown): void }): void {
    this.#waits = true
    const settle = (what: () => void) =>
      this.#pump.run(() => {
        this.#waits = false
        if (!this.#closed) what()
      })
    // In a turn of its own: who is asked may hang up, or throw.
    Promise.resolve()
      .then(() => (this.#closed ? undefined : ask()))
      .then(
        () => settle(then.pass),
        error => settle(() => then.fail(error)),
      )
  }

  close(): void {
    this.#closed = true
  }
}
