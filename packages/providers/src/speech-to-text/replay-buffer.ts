import { type Ms, msToSamples, type Samples } from '@parley/kernel'
import type { ServiceEncoding } from '../service-encoding.ts'

const BLOCK_MS: Ms = 500

interface Block {
  readonly at: Samples
  readonly bytes: Uint8Array
  /** Samples in `bytes`; the rest is free. */
  length: Samples
}

/** Encoded audio of a call whose words are not final yet: at most `maxMs`, gaps not counted; the oldest are dropped first. */
export class ReplayBuffer {
  readonly #maxSamples: Samples
  readonly #bytesPerSample: number
  readonly #blockBytes: number
  #blocks: Block[] = []
  #length: Samples = 0

  constructor({ format, bytesPerSample }: ServiceEncoding, maxMs: Ms) {
    this.#maxSamples = msToSamples(maxMs, format)
    this.#bytesPerSample = bytesPerSample
    this.#blockBytes = msToSamples(BLOCK_MS, format) * bytesPerSample
  }

  /** Position of the oldest buffered sample; null when the buffer is empty. */
  get from(): Samples | null {
    return this.#blocks[0]?.at ?? null
  }

  /** Copies `bytes`, whose first sample is at `at` on the clock. Positions must increase from call to call. */
  append(bytes: Uint8Array, at: Samples): void {
    const size = this.#bytesPerSample
    const total = bytes.length / size
    for (let done = 0; done < total; ) {
      let block = this.#blocks.at(-1)
      if (block === undefined || block.length * size === block.bytes.length || block.at + block.length !== at + done) {
        block = { at: at + done, bytes: new Uint8Array(this.#blockBytes), length: 0 }
        this.#blocks.push(block)
      }
      const count = Math.min(total - done, block.bytes.length / size - block.length)
      block.bytes.set(bytes.subarray(done * size, (done + count) * size), block.length * size)
      block.length += count
      done += count
    }
    this.#length += total
    while (this.#length > this.#maxSamples) this.#forgetFirst(this.#length - this.#maxSamples)
  }

  /** Drops audio before `sample`. */
  forgetBefore(sample: Samples): void {
    for (let first = this.#blocks[0]; first !== undefined && first.at < sample; first = this.#blocks[0])
      this.#forgetFirst(sample - first.at)
  }

  /** The buffered audio, in order; valid until the next change. */
  *stretches(): Generator<{ readonly at: Samples; readonly bytes: Uint8Array }> {
    for (const { at, bytes, length } of this.#blocks)
      yield { at, bytes: bytes.subarray(0, length * this.#bytesPerSample) }
  }

  /** Drops at most `count` samples of the first block. */
  #forgetFirst(count: Samples): void {
    const { at, bytes, length } = this.#blocks[0]!
    const gone = Math.min(count, length)
    this.#length -= gone
    if (gone === length) this.#blocks.shift()
    else this.#blocks[0] = { at: at + gone, bytes: bytes.subarray(gone * this.#bytesPerSample), length: length - gone }
  }
}
