const FIRST_BYTES = 4096

/** Joins chunks into one buffer of at most `maxBytes` bytes. A million chunks of one byte cost no more than one chunk of a million bytes. */
export class CappedBytes {
  readonly #maxBytes: number
  #block = Buffer.alloc(0)
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Copies the chunk; false if it did not fit completely. */
  add(chunk: Uint8Array): boolean {
    const fitting = chunk.subarray(0, this.#maxBytes - this.#length)
    const length = this.#length + fitting.length
    if (length > this.#block.length) this.#grow(length)
    this.#block.set(fitting, this.#length)
    this.#length = length
    return fitting.length === chunk.length
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** The bytes so far. Do not add more afterwards. */
  get bytes(): Buffer {
    return this.#block.subarray(0, this.#length)
  }

  #grow(length: number): void {
    const size = Math.min(this.#maxBytes, Math.max(length, this.#block.length * 2, FIRST_BYTES))
    const block = Buffer.alloc(size)
    this.#block.copy(block, 0, 0, this.#length)
    this.#block = block
  }
}
