import type { Ms } from '@parley/kernel'

/** How long an answer to `finalize` is waited for. */
export const RECOGNISER_PATIENCE_MS: Ms = 1000
/** Voice activity hears that much more at the end of a word than recognisers count to it. */
const TAIL_MS: Ms = 250

/** What the recogniser may still hold back of what the caller said, and what it was asked for. */
export class PendingWords {
  /** When answers that are still owed were asked for. */
  #asked: Ms[] = []
  /** The recogniser has told everything up to here. */
  #coveredUntil: Ms = Number.NEGATIVE_INFINITY
  lastAskedAt: Ms = Number.NEGATIVE_INFINITY

  /** A final came; `lastWordEndMs` is null when it was empty. */
  final(lastWordEndMs: Ms | null, fromFinalize: boolean): void {
    const asked = fromFinalize ? this.#asked.shift() : undefined
    if (asked !== undefined) this.#cover(asked)
    if (lastWordEndMs !== null) this.#cover(lastWordEndMs + TAIL_MS)
  }

  /** The recogniser said that it understood nothing up to here. */
  unintelligible(endMs: Ms): void {
    this.#cover(endMs + TAIL_MS)
  }

  ask(now: Ms): void {
    this.#asked.push(now)
    this.lastAskedAt = now
  }

  /** Whether voice that ended at `voiceEndMs` may hold words that were not told. */
  mayHold(voiceEndMs: Ms): boolean {
    return voiceEndMs > this.#coveredUntil
  }

  /** When the answer that covers `since` is no longer waited for; null: nobody asked since then, or it is answered. */
  answerDueAt(since: Ms): Ms | null {
    const asked = this.#asked.find(at => at >= since)
    return asked === undefined ? null : asked + RECOGNISER_PATIENCE_MS
  }

  /** Forgets answers that are overdue: they will not come, or say no more than any other final. */
  expire(now: Ms): void {
    while (this.#asked.length > 0 && now >= this.#asked[0]! + RECOGNISER_PATIENCE_MS) this.#asked.shift()
  }

  #cover(until: Ms): void {
    this.#coveredUntil = Math.max(this.#coveredUntil, until)
  }
}
