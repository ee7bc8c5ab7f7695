import type { Ms } from '@parley/kernel'

/** Timeout of the recogniser's answer to `finalize`. */
export const RECOGNISER_PATIENCE_MS: Ms = 1000
/** Voice activity places the end of a word up to this much later than recognisers do. */
const TAIL_MS: Ms = 250

/** Tracks up to where the recogniser has delivered the caller's words, and which `finalize` requests it has not answered. */
export class PendingWords {
  /** Times of the `finalize` requests without an answer. */
  #requestedAt: Ms[] = []
  /** The recogniser has delivered all words up to this time. */
  #coveredUntil: Ms = Number.NEGATIVE_INFINITY
  lastRequestedAt: Ms = Number.NEGATIVE_INFINITY

  /** A final arrived. `lastWordEndMs`: null if it has no words. */
  final(lastWordEndMs: Ms | null, fromFinalize: boolean): void {
    const requestedAt = fromFinalize ? this.#requestedAt.shift() : undefined
    if (requestedAt !== undefined) this.#cover(requestedAt)
    if (lastWordEndMs !== null) this.#cover(lastWordEndMs + TAIL_MS)
  }

  /** The recogniser reported speech without words that ends at `endMs`. */
  unintelligible(endMs: Ms): void {
    this.#cover(endMs + TAIL_MS)
  }

  /** `finalize` was requested. */
  requested(now: Ms): void {
    this.#requestedAt.push(now)
    this.lastRequestedAt = now
  }

  /** Whether voice that ended at `voiceEndMs` may hold words that were not delivered. */
  mayHoldWords(voiceEndMs: Ms): boolean {
    return voiceEndMs > this.#coveredUntil
  }

  /** When the answer to the first request from `since` on times out; null: there is no such request without an answer. */
  answerDueAt(since: Ms): Ms | null {
    const requestedAt = this.#requestedAt.find(at => at >= since)
    return requestedAt === undefined ? null : requestedAt + RECOGNISER_PATIENCE_MS
  }

  /** Drops requests whose answer timed out; a late answer then counts as an ordinary final. */
  expire(now: Ms): void {
    while (this.#requestedAt.length > 0 && now >= this.#requestedAt[0]! + RECOGNISER_PATIENCE_MS)
      this.#requestedAt.shift()
  }

  #cover(until: Ms): void {
    this.#coveredUntil = Math.max(this.#coveredUntil, until)
  }
}
