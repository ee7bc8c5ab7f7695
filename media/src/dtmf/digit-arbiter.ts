import type { Ms, Samples } from '@parley/kernel'
import { msToSamples, NARROWBAND } from '@parley/kernel'

/** Tones and telephone-events of one press are this close at most: gateways let the first of a tone through, late. */
const NEAR: Samples = msToSamples(150, NARROWBAND)
/** A telephone-event may still be under way when its tones have ended. */
const WAIT_MS: Ms = 150
const HELD = 8
const REMEMBERED = 8

/**
 * Sees to it that a digit which comes both as a telephone-event and as tones is reported once: the event wins. Tones
 * are held back for 150 ms where events are expected. Nothing is allocated.
 */
export class DigitArbiter {
  /** Result of the last `take()`. */
  digit = ''
  position: Samples = 0
  durationMs: Ms = 0

  readonly #heldDigit: string[] = new Array<string>(HELD).fill('')
  readonly #heldFrom = new Float64Array(HELD)
  readonly #heldMs = new Float64Array(HELD)
  readonly #heldUntil = new Float64Array(HELD)
  #head = 0
  #tail = 0
  /** What was reported already, of either kind. */
  readonly #reportedCountDigit: string[] = new Array<string>(REMEMBERED).fill('')
  readonly #reportedCountFrom = new Float64Array(REMEMBERED)
  readonly #reportedCountTo = new Float64Array(REMEMBERED)
  readonly #reportedCountAsTones = new Uint8Array(REMEMBERED)
  #reportedCount = 0

  /** Tones have ended. `expectsEvents`: the peer may be sending the same as a telephone-event. */
  tones(nowMs: Ms, digit: string, position: Samples, durationMs: Ms, expectsEvents: boolean): void {
    // Only an owner that does not call `take` fills it: the newest digit is dropped.
    if (this.#tail - this.#head === HELD) return
    const i = this.#tail++ & (HELD - 1)
    this.#heldDigit[i] = digit
    this.#heldFrom[i] = position
    this.#heldMs[i] = durationMs
    this.#heldUntil[i] = nowMs + (expectsEvents ? WAIT_MS : 0)
  }

  /** A telephone-event has ended; false: its tones were reported already. */
  event(digit: string, position: Samples, durationMs: Ms): boolean {
    const to = position + msToSamples(durationMs, NARROWBAND)
    const repeated = this.#alreadySaid(digit, position, to, true)
    this.#remember(digit, position, to, false)
    return !repeated
  }

  /** The next tones to be reported at `nowMs`. */
  take(nowMs: Ms): boolean {
    while (this.#head !== this.#tail) {
      const i = this.#head & (HELD - 1)
      if (nowMs < this.#heldUntil[i]!) return false
      this.#head++
      const from = this.#heldFrom[i]!
      const to = from + msToSamples(this.#heldMs[i]!, NARROWBAND)
      if (this.#alreadySaid(this.#heldDigit[i]!, from, to, false)) continue
      this.digit = this.#heldDigit[i]!
      this.position = from
      this.durationMs = this.#heldMs[i]!
      this.#remember(this.digit, from, to, true)
      return true
    }
    return false
  }

  #alreadySaid(digit: string, from: Samples, to: Samples, asTones: boolean): boolean {
    for (let i = 0; i < REMEMBERED; i++) {
      const same = this.#reportedCountDigit[i] === digit && (this.#reportedCountAsTones[i] === 1) === asTones
      if (same && from <= this.#reportedCountTo[i]! + NEAR && to >= this.#reportedCountFrom[i]! - NEAR) return true
    }
    return false
  }

  #remember(digit: string, from: Samples, to: Samples, asTones: boolean): void {
    const i = this.#reportedCount++ & (REMEMBERED - 1)
    this.#reportedCountDigit[i] = digit
    this.#reportedCountFrom[i] = from
    this.#reportedCountTo[i] = to
    this.#reportedCountAsTones[i] = asTones ? 1 : 0
  }
}
