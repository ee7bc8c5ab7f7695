import type { Samples } from '@parley/kernel'

/** Int32 words of a recording's header. Positions are samples since the session's open: 2^31 of them are 74 hours. */
export const CAPACITY = 0
export const LEFT_PUBLISHED = 1
export const RIGHT_PUBLISHED = 2
export const READ = 3
export const END = 4
export const OVERRUN = 5
export const SAMPLE_RATE = 6
/** Position from which on the left channel uses its second half; 0: not yet. The right channel's is the next word. */
const LEFT_DOUBLED = 7
export const HEADER_WORDS = 16
export const HEADER_BYTES = HEADER_WORDS * 4

/**
 * One channel of a recording's memory. Audio goes around its first half alone as long as the recording's writer keeps up. When that is
 * full, the channel takes its second half as well, and goes around both from then on: most calls never touch it, so that it costs
 * them no memory. In memory the first halves of both channels follow the header, then come the second halves.
 *
 * A byte has the same place in either half. That the ring was doubled does not move what was written before, so a reader that loads
 * `published` first finds all audio before it, whether it sees the doubling or not.
 */
export class RecordingChannel {
  /** Samples that both halves hold. */
  readonly capacity: Samples
  readonly #header: Int32Array
  readonly #word: typeof LEFT_PUBLISHED | typeof RIGHT_PUBLISHED
  readonly #doubled: number
  readonly #half: Samples
  readonly #first: Uint8Array
  readonly #second: Uint8Array

  constructor(buffer: SharedArrayBuffer, word: typeof LEFT_PUBLISHED | typeof RIGHT_PUBLISHED) {
    const side = word - LEFT_PUBLISHED
    this.#header = new Int32Array(buffer, 0, HEADER_WORDS)
    this.#word = word
    this.#doubled = LEFT_DOUBLED + side
    this.capacity = this.#header[CAPACITY]!
    this.#half = this.capacity >> 1
    this.#first = new Uint8Array(buffer, HEADER_BYTES + side * this.#half, this.#half)
    this.#second = new Uint8Array(buffer, HEADER_BYTES + this.capacity + side * this.#half, this.#half)
  }

  /** Position up to which audio was written. */
  get published(): Samples {
    return Atomics.load(this.#header, this.#word)
  }

  set published(position: Samples) {
    Atomics.store(this.#header, this.#word, position)
  }

  /** Makes room for audio up to `until`, at most `capacity` after `read`, the position that the writer of the recording has reached. */
  makeRoom(read: Samples, until: Samples): void {
    if (until - read > this.#half && Atomics.load(this.#header, this.#doubled) === 0)
      Atomics.store(this.#header, this.#doubled, read + this.#half)
  }

  /** The half that holds `position`. */
  halfOf(position: Samples): Uint8Array {
    const doubled = Atomics.load(this.#header, this.#doubled)
    return doubled === 0 || ((position - doubled) & this.#half) !== 0 ? this.#first : this.#second
  }

  /** Where in its half `position` is. */
  offsetOf(position: Samples): number {
    return position & (this.#half - 1)
  }

  /** Samples from `position` on that follow each other in memory. */
  runFrom(position: Samples): Samples {
    const doubled = Atomics.load(this.#header, this.#doubled)
    return this.#half - Math.max(this.offsetOf(position), this.offsetOf(position - doubled))
  }
}
