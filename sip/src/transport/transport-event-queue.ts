import { Emitter } from '@parley/kernel'
import type { TransportInput } from './transport.ts'

/**
 * What the transport tells, in one order: first in, first out, never inside a `submit`. A listener that submits while
 * it is being told something hears of the outcome after it returned.
 */
export class TransportEventQueue {
  readonly #emitter = new Emitter<TransportInput>()
  readonly #queue: TransportInput[] = []
  #holds = 0
  #draining = false
  #closed = false

  listen(listener: (input: TransportInput) => void): void {
    this.#emitter.listen(listener)
  }

  put(input: TransportInput): void {
    if (this.#closed) return
    this.#queue.push(input)
    if (this.#holds === 0) this.#drain()
  }

  /** Runs `work`; the events that it pushes are delivered in a later microtask. */
  hold(work: () => void): void {
    this.#holds++
    try {
      work()
    } finally {
      this.#holds--
    }
    if (this.#queue.length > 0 && !this.#draining) queueMicrotask(() => this.#drain())
  }

  /** Delivers the queued events; events pushed later are dropped. */
  close(): void {
    this.#drain()
    this.#closed = true
  }

  #drain(): void {
    if (this.#draining) return
    this.#draining = true
    for (let input = this.#queue.shift(); input !== undefined; input = this.#queue.shift()) this.#emitter.emit(input)
    this.#draining = false
  }
}
