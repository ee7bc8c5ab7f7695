import type { Ms } from '@parley/kernel'
import { GapDetector } from '@parley/phone'
import { FRAME_MS } from './wire-line.ts'

/** A pause that is longer than this is a gap. */
const GAP_MS: Ms = 40

/**
 * Counts the gaps of what a caller hears: packets that come so late, or not at all, that a receiver without a jitter buffer has nothing
 * to play for more than 40 ms; and speech inside the packets that breaks off for that long.
 */
export class HeardGaps {
  readonly #speech = new GapDetector(GAP_MS)
  #lastAt: Ms | null = null
  #samples = 0
  #pauses = 0
  #longestPauseMs: Ms = 0

  hear(at: Ms, frame: Int16Array): void {
    const pauseMs = this.#lastAt === null ? 0 : at - this.#lastAt - FRAME_MS
    this.#lastAt = at
    if (pauseMs > GAP_MS) this.#pauses++
    this.#longestPauseMs = Math.max(this.#longestPauseMs, pauseMs)
    this.#speech.hear(frame, this.#samples)
    this.#samples += frame.length
  }

  get figures(): { readonly gaps: number; readonly longestMs: Ms } {
    const inSpeech = this.#speech.gaps
    const longest = inSpeech.reduce((most, { durationMs }) => Math.max(most, durationMs), this.#longestPauseMs)
    return { gaps: this.#pauses + inSpeech.length, longestMs: longest }
  }
}
