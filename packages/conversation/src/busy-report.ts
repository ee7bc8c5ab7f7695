import type { ConversationEvent } from './protocol.ts'

/** Reports whether the agent owes the caller an answer, each time that changes. */
export class BusyReport {
  readonly #emit: (event: ConversationEvent) => void
  #busy = false
  #working = false

  constructor(emit: (event: ConversationEvent) => void) {
    this.#emit = emit
  }

  /** `busy`: the caller waits; `working`: for a model or an action. */
  report(busy: boolean, working: boolean): void {
    if (busy === this.#busy && working === this.#working) return
    this.#busy = busy
    this.#working = working
    this.#emit({ type: 'busy', busy, working })
  }
}
