import type { EventDispatcher } from './event-dispatcher.ts'

/** Delays a request until the application's `beforeAttempt` resolves. */
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

  /** Calls `pass` or `fail` later, never synchronously; after `close` it calls neither and does not ask the application. */
  ask(ask: () => Promise<void>, then: { pass(): void; fail(error: unknown): void }): void {
    this.#waits = true
    const settle = (what: () => void) =>
      this.#pump.run(() => {
        this.#waits = false
        if (!this.#closed) what()
      })
    // In a microtask of its own, because the application may hang up or throw.
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
