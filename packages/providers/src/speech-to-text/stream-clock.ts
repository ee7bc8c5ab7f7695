import type { Samples } from '@parley/kernel'

/** So many gaps are remembered; times before the oldest are taken to lie without a gap before it. */
const MOST_STRETCHES = 256

interface Stretch {
  readonly stream: Samples
  readonly clock: Samples
}

/**
 * Where on the call's sample clock each sample lies that was sent to a service: the service counts what it was sent, the
 * call has gaps and jumps.
 */
export class StreamClock {
  #stretches: Stretch[] = []
  #sent: Samples = 0

  /** How much was sent. */
  get sent(): Samples {
    return this.#sent
  }

  /** The next `count` samples of the stream lie at `clock`. */
  append(clock: Samples, count: Samples): void {
    const last = this.#stretches.at(-1)
    if (last === undefined || last.clock + (this.#sent - last.stream) !== clock) {
      if (this.#stretches.length >= MOST_STRETCHES) this.#stretches.shift()
      this.#stretches.push({ stream: this.#sent, clock })
    }
    this.#sent += count
  }

  /** Place on the clock of a sample of the stream; what was never sent is taken for the end of what was. */
  toClock(stream: Samples): Samples {
    const at = Math.min(Math.max(0, Math.round(stream)), this.#sent)
    const stretches = this.#stretches
    let i = stretches.length - 1
    while (i > 0 && stretches[i]!.stream > at) i--
    const stretch = stretches[i]
    return stretch === undefined ? 0 : stretch.clock + (at - stretch.stream)
  }
}
