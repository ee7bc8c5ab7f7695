import type { Samples } from '@parley/kernel'

/** Stretches between gaps that are remembered; times before the oldest are extrapolated from it. */
const MAX_STRETCHES = 256

interface Stretch {
  readonly stream: Samples
  readonly clock: Samples
}

/**
 * Maps positions in the audio that was sent to a service to the call's sample clock: the service counts sent samples, and
 * the call's clock has gaps.
 */
export class StreamClock {
  #stretches: Stretch[] = []
  #sent: Samples = 0

  /** Samples sent so far. */
  get sent(): Samples {
    return this.#sent
  }

  /** The next `count` samples of the stream are at `clock`. */
  append(clock: Samples, count: Samples): void {
    const last = this.#stretches.at(-1)
    if (last === undefined || last.clock + (this.#sent - last.stream) !== clock) {
      if (this.#stretches.length >= MAX_STRETCHES) this.#stretches.shift()
      this.#stretches.push({ stream: this.#sent, clock })
    }
    this.#sent += count
  }

  /** Position on the clock of a sample of the stream; positions beyond the sent audio count as its end. */
  toClock(stream: Samples): Samples {
    const at = Math.min(Math.max(0, Math.round(stream)), this.#sent)
    const stretches = this.#stretches
    let i = stretches.length - 1
    while (i > 0 && stretches[i]!.stream > at) i--
    const stretch = stretches[i]
    return stretch === undefined ? 0 : stretch.clock + (at - stretch.stream)
  }
}
