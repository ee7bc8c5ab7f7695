import type { Samples } from '@parley/kernel'

const MAX = 32767
const MIN = -32768

/** A loop that is mixed under everything that a session sends. Nothing is allocated per packet. */
export class BackgroundSound {
  readonly #loop: Int16Array
  readonly #gain: number
  #at = 0

  /** `loop`: at least one sample. `gain`: 0 to 2. */
  constructor(loop: Int16Array, gain: number) {
    this.#loop = loop
    this.#gain = gain
  }

  /** Adds the next `count` samples of the loop to the beginning of `frame`. */
  mixInto(frame: Int16Array, count: Samples): void {
    const loop = this.#loop
    let at = this.#at
    for (let i = 0; i < count; i++) {
      const mixed = frame[i]! + Math.round(loop[at]! * this.#gain)
      frame[i] = mixed > MAX ? MAX : mixed < MIN ? MIN : mixed
      at++
      if (at === loop.length) at = 0
    }
    this.#at = at
  }
}
