import type { Samples } from '@parley/kernel'

/** 500 ms of mu-law. */
const BLOCK: Samples = 4000

interface Block {
  readonly at: Samples
  readonly bytes: Uint8Array
  length: Samples
}

/** Mu-law audio of a call that a service has not made words of yet, at most `most` samples: the oldest is forgotten. */
export class KeptAudio {
  readonly #most: Samples
  #blocks: Block[] = []

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
    this.forgetBefore(at + bytes.length - this.#most)
  }

  /** Forgets what lies before `sample`. */
  forgetBefore(sample: Samples): void {
    const first = this.#blocks.findIndex(({ at, length }) => at + length > sample)
    if (first === -1) this.#blocks = []
    else if (first > 0) this.#blocks.splice(0, first)
    const block = this.#blocks[0]
    if (block === undefined || block.at >= sample) return
    const gone = sample - block.at
    this.#blocks[0] = { at: sample, bytes: block.bytes.subarray(gone), length: block.length - gone }
  }

  /** What is kept, in order; valid until the next change. */
  *stretches(): Generator<{ readonly at: Samples; readonly bytes: Uint8Array }> {
    for (const { at, bytes, length } of this.#blocks) yield { at, bytes: bytes.subarray(0, length) }
  }
}
