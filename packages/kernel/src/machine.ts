import type { Time, Timer } from './time.ts'
import type { Ms } from './units.ts'

/**
 * A pure state machine at signalling rate. `handle` takes inputs with their time, `poll` returns outputs, and
 * `deadline` says when `advance` must be called at the latest. After every call of `handle` and `advance` the driver drains `poll`.
 */
export interface Machine<Input, Output> {
  handle(now: Ms, input: Input): void
  /** Handles all deadlines up to `now`. An early call does nothing. */
  advance(now: Ms): void
  /** The oldest output not yet taken; undefined when drained. */
  poll(): Output | undefined
  /** When `advance` must be called next; undefined if there is no deadline. */
  deadline(): Ms | undefined
}

/** Runs a machine on a `Time`: passes inputs to it, drains its outputs into `deliver`, and keeps one timer armed. */
export class MachineDriver<Input, Output> {
  readonly #machine: Machine<Input, Output>
  readonly #time: Time
  readonly #deliver: (output: Output) => void
  #timer: Timer | undefined
  #armedFor: Ms | undefined
  #draining = false
  #stopped = false

  constructor(machine: Machine<Input, Output>, time: Time, deliver: (output: Output) => void) {
    this.#machine = machine
    this.#time = time
    this.#deliver = deliver
    this.#settle()
  }

  handle(input: Input): void {
    if (this.#stopped) return
    this.#machine.handle(this.#time.now(), input)
    this.#settle()
  }

  /** Cancels the timer; further inputs are ignored. */
  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** Outputs may cause inputs (a delivered output calls `handle`): the outer drain delivers those as well. */
  #settle(): void {
    if (this.#draining) return
    this.#draining = true
    try {
      for (let output = this.#machine.poll(); output !== undefined; output = this.#machine.poll()) this.#deliver(output)
    } finally {
      this.#draining = false
      // The timer is armed also when `deliver` threw, so that the machine's deadlines are not lost.
      this.#arm()
    }
  }

  #arm(): void {
    const deadline = this.#stopped ? undefined : this.#machine.deadline()
    if (deadline === this.#armedFor && (deadline === undefined || this.#timer !== undefined)) return
    this.#timer?.cancel()
    this.#timer = undefined
    this.#armedFor = deadline
    if (deadline === undefined) return
    this.#timer = this.#time.at(deadline, () => {
      this.#timer = undefined
      this.#armedFor = undefined
      this.#machine.advance(this.#time.now())
      this.#settle()
    })
  }
}
