import type { Ms, Samples } from '@parley/kernel'
import { msToSamples, NARROWBAND } from '@parley/kernel'

/**
 * Tones and telephone-events of one key press are at most this far apart: gateways let the beginning of a tone through,
 * late.
 */
const NEAR: Samples = msToSamples(150, NARROWBAND)
/** A telephone-event may arrive this long after its tones have ended. */
const WAIT_MS: Ms = 150
const HELD = 8
const REMEMBERED = 8

/**
 * Reports a digit that arrives both as a telephone-event and as tones once; the event wins. Tones wait 150 ms where
 * events are expected. Allocates nothing.
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
  /** Digits that were reported, of either kind. */
  readonly #reportedDigit: string[] = new Array<string>(REMEMBERED).fill('')
  readonly #reportedFrom = new Float64Array(REMEMBERED)
  readonly #reportedTo = new Float64Array(REMEMBERED)
  readonly #reportedAsTones = new Uint8Array(REMEMBERED)
  #reportedCount = 0

  /** Whether tones wait to be reported. */
  get waiting(): boolean {
    return this.#head !== this.#tail
  }

  /** Tones have ended. `expectsEvents`: the peer may send the same digit as a telephone-event. */
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
    const repeated = this.#wasReported(digit, position, to, true)
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
      if (this.#wasReported(this.#heldDigit[i]!, from, to, false)) continue
      this.digit = this.#heldDigit[i]!
      this.position = from
      this.durationMs = this.#heldMs[i]!
      this.#remember(this.digit, from, to, true)
      return true
    }
    return false
  }

  #wasReported(digit: string, from: Samples, to: Samples, asTones: boolean): boolean {
    for (let i = 0; i < REMEMBERED; i++) {
      const same = this.#reportedDigit[i] === digit && (this.#reportedAsTones[i] === 1) === asTones
      if (same && from <= this.#reportedTo[i]! + NEAR && to >= this.#reportedFrom[i]! - NEAR) return true
    }
    return false
  }

  #remember(digit: string, from: Samples, to: Samples, asTones: boolean): void {
    const i = this.#reportedCount++ & (REMEMBERED - 1)
    this.#reportedDigit[i] = digit
    this.#reportedFrom[i] = from
    this.#reportedTo[i] = to
    this.#reportedAsTones[i] = asTones ? 1 : 0
  }
}
