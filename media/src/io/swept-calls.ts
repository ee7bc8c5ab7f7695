import type { PathCalls } from '../session/media-path.ts'

/** Calls whose slot was at one wake, as a media path takes them, and what it answers. */
export class SweptCalls implements PathCalls {
  readonly capacity: number
  readonly ids: Int32Array
  readonly slotMs: Float64Array
  /** Earlier slots of each that were not sent. */
  readonly missed: Int32Array
  readonly outcome: Int8Array
  readonly due: Uint8Array
  readonly left: Uint8Array

  constructor(capacity: number) {
    this.capacity = capacity
    this.ids = new Int32Array(capacity)
    this.slotMs = new Float64Array(capacity)
    this.missed = new Int32Array(capacity)
    this.outcome = new Int8Array(capacity)
    this.due = new Uint8Array(capacity)
    this.left = new Uint8Array(capacity)
  }

  /** The same calls, with room for twice as many. */
  doubled(): SweptCalls {
    const larger = new SweptCalls(2 * this.capacity)
    larger.ids.set(this.ids)
    larger.slotMs.set(this.slotMs)
    larger.missed.set(this.missed)
    return larger
  }
}
