import type { Samples } from '@parley/kernel'

/** 500 ms of mu-law. */
const BLOCK: Samples = 4000

interface Block {
  readonly at: Samples
  readonly bytes: Uint8Array
  length: Samples
}

/** Mu-law audio of a call whose words are not final yet: at most `most` samples without gaps; beyond it the oldest are dropped. */
export class ReplayBuffer {
  readonly #most: Samples
  #blocks: Block[] = []
  #length: Samples = 0

  constructor(most: Samples) {
    this.#most = most
  }

  /** Position of the oldest buffered sample; null when the buffer is empty. */
  get from(): Samples | null {
    return this.#blocks[0]?.at ?? null
  }

  /** Copies `bytes`, whose first sample is at `at` on the clock. Positions must increase from call to call. */
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

  /** Drops audio before `sample`. */
  forgetBefore(sample: Samples): void {
    for (let first = this.#blocks[0]; first !== undefined && first.at < sample; first = this.#blocks[0])
      this.#forgetFirst(sample - first.at)
  }

  /** The buffered audio, in order; valid until the next change. */
  *stretches(): Generator<{ readonly at: Samples; readonly bytes: Uint8Array }> {
    for (const { at, bytes, length } of this.#blocks) yield { at, bytes: bytes.subarray(0, length) }
  }

  /** Drops at most `most` samples of the first block. */
  #forgetFirst(most: Samples): void {
    const { at, bytes, length } = this.#blocks[0]!
    const gone = Math.min(most, length)
    this.#length -= gone
    if (gone === length) this.#blocks.shift()
    else this.#blocks[0] = { at: at + gone, bytes: bytes.subarray(gone), length: length - gone }
  }
}
