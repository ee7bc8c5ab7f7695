import type { Ms } from '@parley/kernel'
import { CANDIDATE_MS } from './endpointing.ts'
import type { SpokenWord } from './protocol.ts'

/** Below this score the caller will probably go on, so the candidate is reported later. */
const LIKELY = 0.4

/** Reports a turn that is probably over before endpointing has decided it, so that generation of the answer can start early. */
export class EndOfTurnCandidate {
  readonly #report: (text: string) => void
  readonly #withdraw: () => void
  /** Text of the current candidate; null: none was reported, or it was withdrawn. */
  #reported: string | null = null

  constructor(report: (text: string) => void, withdraw: () => void) {
    this.#report = report
    this.#withdraw = withdraw
  }

  /**
   * The caller has been silent since `quietSince` and the turn is decided at `dueAt`. Returns when to call again; null:
   * the candidate was reported, or there are no words.
   */
  settle(now: Ms, quietSince: Ms, dueAt: Ms, words: readonly SpokenWord[], score: number): Ms | null {
    if (words.length === 0) return null
    const at = score >= LIKELY ? quietSince + CANDIDATE_MS : Math.round((quietSince + dueAt) / 2)
    if (now < at) return at
    const text = words.map(word => word.text).join(' ')
    if (text === this.#reported) return null
    this.#reported = text
    this.#report(text)
    return null
  }

  /** Withdraws the candidate: the caller goes on, or endpointing is suspended. */
  withdraw(): void {
    if (this.#reported === null) return
    this.#reported = null
    this.#withdraw()
  }

  /** The turn was reported: the candidate is no longer withdrawn. */
  turnReported(): void {
    this.#reported = null
  }
}
