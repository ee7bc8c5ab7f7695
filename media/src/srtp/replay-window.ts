/** Packets this far behind the newest one are still accepted: 2.5 s of 20 ms packets (RFC 3711 asks for 64). */
const REPLAY_WINDOW = 128

const WORDS = 8

/**
 * Which packet indices were accepted (RFC 3711 section 3.3.2): a ring of bits, in which a step forward clears the words
 * it enters instead of shifting (RFC 6479). The ring is wider than the window, so a word entered holds nothing current.
 */
export class ReplayWindow {
  /** Highest index accepted; -1 before the first. */
  highest = -1
  readonly #bits = new Uint32Array(WORDS)

  /** True when `index` was not accepted yet and is not older than the window. Changes nothing. */
  accepts(index: number): boolean {
    if (index > this.highest) return true
    if (index <= this.highest - REPLAY_WINDOW) return false
    return (this.#bits[(index >>> 5) & (WORDS - 1)]! & (1 << (index & 31))) === 0
  }

  /** Marks `index` as accepted; only after `accepts`, for an authentic packet. */
  commit(index: number): void {
    if (index > this.highest) {
      const from = Math.floor(this.highest / 32)
      const steps = Math.min(WORDS, Math.floor(index / 32) - from)
      for (let step = 1; step <= steps; step++) this.#bits[(from + step) & (WORDS - 1)] = 0
      this.highest = index
    }
    const word = (index >>> 5) & (WORDS - 1)
    this.#bits[word] = this.#bits[word]! | (1 << (index & 31))
  }
}
