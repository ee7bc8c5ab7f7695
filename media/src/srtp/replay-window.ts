/** Packets this far behind the newest one are still accepted: 2.5 s of 20 ms packets (RFC 3711 asks for 64). */
const REPLAY_WINDOW = 128

const WORDS = 8
export const REPLAY_WINDOW_WORDS = 1 + WORDS

/**
 * Which packet indices were accepted (RFC 3711 section 3.3.2): a ring of bits, in which a step forward clears the words
 * it enters instead of shifting (RFC 6479). The ring is wider than the window, so a word entered holds nothing current.
 */
export class ReplayWindow {
  /** The highest index accepted, then the ring. */
  #words: Float64Array

  constructor() {
    this.#words = new Float64Array(REPLAY_WINDOW_WORDS)
    this.#words[0] = -1
  }

  /** Highest index accepted; -1 before the first. */
  get highest(): number {
    return this.#words[0]!
  }

  /** Goes on in other memory, of `REPLAY_WINDOW_WORDS` numbers; default memory of its own. */
  moveTo(memory: Float64Array = new Float64Array(REPLAY_WINDOW_WORDS)): void {
    memory.set(this.#words)
    this.#words = memory
  }

  /** True when `index` was not accepted yet and is not older than the window. Changes nothing. */
  accepts(index: number): boolean {
    if (index > this.highest) return true
    if (index <= this.highest - REPLAY_WINDOW) return false
    return (this.#words[ringWord(index)]! & (1 << (index & 31))) === 0
  }

  /** Marks `index` as accepted; only after `accepts`, for an authentic packet. */
  commit(index: number): void {
    const words = this.#words
    if (index > this.highest) {
      const from = Math.floor(this.highest / 32)
      const steps = Math.min(WORDS, Math.floor(index / 32) - from)
      for (let step = 1; step <= steps; step++) words[1 + ((from + step) & (WORDS - 1))] = 0
      words[0] = index
    }
    const word = ringWord(index)
    words[word] = (words[word]! | (1 << (index & 31))) >>> 0
  }
}

function ringWord(index: number): number {
  return 1 + ((index >>> 5) & (WORDS - 1))
}
