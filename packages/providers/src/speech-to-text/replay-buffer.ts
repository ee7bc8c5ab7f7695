import type { Samples } from '@parley/kernel'

/** 500 ms of mu-law. */
const BLOCK: Samples = 4000

interface Block {
  readonly at: Samples
  readonly bytes: Uint8Array
  length: Samples
}

/** Mu-law audio of a call that a service has not made words of yet, at most `most` samples: the oldest is forgotten. Gaps do not count. */
export class ReplayBuffer {
  readonly #most: Samples
  #blocks: Block[] = []
  #length: Samples = 0

  constructor(most: Samples) {
    this.#most = most
  }

  /** Place of the oldest sample that is kept; null when there is none. */
  get from(): Samples | null {
    return this.#blocks[0]?.at ?? null
  }

  /** Copies `bytes`, whose first lies at `at` on the clock; what is written lies after what was written before. */
  append(bytes: Uint8Array, at: Samples): void {
    for (let done = 0; done < bytes.length; ) {
      let block = this.#blocks.at(-1)
      if (block === undefined || block.length === block.bytes.length || block.at + block.length !== at + done) {
        block = { at: at + done, bytes: new Uint8Array(BLOCK), length: 0 }
        this.#blocks.push(block)
      }
      const count = Math.min(bytes.length - done, block.bytes.length - block.length)
      block.bytes.set(bytes.subarray(done, done + count), block.length)
      block.length += count
      done += count
    }
    this.#length += bytes.length
    while (this.#length > this.#most) this.#forgetFirst(this.#length - this.#most)
  }

  /** Forgets what lies before `sample`. */
  forgetBefore(sample: Samples): void {
    for (let first = this.#blocks[0]; first !== undefined && first.at < sample; first = this.#blocks[0])
      this.#forgetFirst(sample - first.at)
  }

  /** What is kept, in order; valid until the next change. */
  *stretches(): Generator<{ readonly at: Samples; readonly bytes: Uint8Array }> {
    for (const { at, bytes, length } of this.#blocks) yield { at, bytes: bytes.subarray(0, length) }
  }

  /** Forgets at most `most` samples of the first block. */
  #forgetFirst(most: Samples): void {
    const { at, bytes, length } = this.#blocks[0]!
    const gone = Math.min(most, length)
    this.#length -= gone
    if (gone === length) this.#blocks.shift()
    else this.#blocks[0] = { at: at + gone, bytes: bytes.subarray(gone), length: length - gone }
  }
}
