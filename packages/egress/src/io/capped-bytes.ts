const FIRST_BYTES = 4096

/** Bytes that come in pieces, up to a cap, in one block: a million pieces of one byte cost no more than one of a million. */
export class CappedBytes {
  readonly #most: number
  #block = Buffer.alloc(0)
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Copies the piece; false when not all of it had room. */
  add(piece: Uint8Array): boolean {
    const fitting = piece.subarray(0, this.#most - this.#length)
    const length = this.#length + fitting.length
    if (length > this.#block.length) this.#grow(length)
    this.#block.set(fitting, this.#length)
    this.#length = length
    return fitting.length === piece.length
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** What came so far; nothing may be added afterwards. */
  get bytes(): Buffer {
    return this.#block.subarray(0, this.#length)
  }

  #grow(length: number): void {
    const size = Math.min(this.#most, Math.max(length, this.#block.length * 2, FIRST_BYTES))
    const block = Buffer.alloc(size)
    this.#block.copy(block, 0, 0, this.#length)
    this.#block = block
  }
}
