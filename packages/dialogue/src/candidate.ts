import type { Ms } from '@parley/kernel'
import { CANDIDATE_MS } from './endpointing.ts'
import type { SpokenWord } from './protocol.ts'

/** Below this score the caller will more likely go on: what could be asked early is asked later. */
const LIKELY = 0.4

/** A silence in which the turn may be over, told before it is decided: so that an answer can be begun. */
export class Candidate {
  readonly #tell: (text: string) => void
  readonly #withdraw: () => void
  /** What was told last, and was not taken back. */
  #told: string | null = null

  constructor(tell: (text: string) => void, withdraw: () => void) {
    this.#tell = tell
    this.#withdraw = withdraw
  }

  /**
   * The caller has been silent since `quietSince` and the turn is decided at `dueAt`. Returns when to come again; null:
   * it was told, or there is nothing to tell.
   */
  settle(now: Ms, quietSince: Ms, dueAt: Ms, words: readonly SpokenWord[], score: number): Ms | null {
    if (words.length === 0) return null
    const at = score >= LIKELY ? quietSince + CANDIDATE_MS : Math.round((quietSince + dueAt) / 2)
    if (now < at) return at
    const text = words.map(word => word.text).join(' ')
    if (text === this.#told) return null
    this.#told = text
    this.#tell(text)
    return null
  }

  /** The caller goes on, or is not listened to. */
  goesOn(): void {
    if (this.#told === null) return
    this.#told = null
    this.#withdraw()
  }

  /** The turn was given away. */
  given(): void {
    this.#told = null
  }
}
