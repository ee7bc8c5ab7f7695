import { type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import type { WireTap } from './wire-session.ts'

/**
 * A frame is audible if a sample reaches this value, 30 dB below full scale. The tones that encode words stay below it.
 */
export const AUDIBLE_PEAK = 1000

/** Times of a caller's turn and of the agent's answer, on the clock of the tap. */
export interface MeasuredTurn {
  /** The caller's last audible frame was handed to the socket. */
  readonly lastSentAt: Ms
  /** The caller's last audible sample was spoken; a frame is sent after its last sample. */
  readonly lastSoundAt: Ms
  /** The agent's first audible frame arrived. */
  readonly firstHeardAt: Ms
}

/** Measures one call's turns from the frames that pass its socket. One turn at a time. */
export class TurnMeter implements WireTap {
  #lastHeardAt: Ms | null = null
  #turn: PromiseWithResolvers<MeasuredTurn> | null = null
  #end: Omit<MeasuredTurn, 'firstHeardAt'> | null = null
  /** Whether all audio of the caller's turn was sent. */
  #isSent = false

  /** When the agent was last audible; null: never. */
  get lastHeardAt(): Ms | null {
    return this.#lastHeardAt
  }

  /**
   * Starts a turn: all audio that is sent from now on belongs to it. Resolves when the answer begins; rejects if the agent is
   * audible before the caller has finished, because then there is no pause to measure.
   */
  turn(): Promise<MeasuredTurn> {
    this.#turn = Promise.withResolvers()
    this.#end = null
    this.#isSent = false
    return this.#turn.promise
  }

  sent(at: Ms, frame: Int16Array, remaining: number): void {
    if (this.#turn === null || this.#isSent) return
    const last = frame.findLastIndex(isAudible)
    if (last >= 0) this.#end = { lastSentAt: at, lastSoundAt: at - samplesToMs(frame.length - 1 - last, NARROWBAND) }
    this.#isSent = remaining === 0 && this.#end !== null
  }

  heard(at: Ms, frame: Int16Array): void {
    if (!hasAudible(frame)) return
    this.#lastHeardAt = at
    const turn = this.#turn
    if (turn === null) return
    this.#turn = null
    if (this.#isSent && this.#end !== null) turn.resolve({ ...this.#end, firstHeardAt: at })
    else turn.reject(new Error('the agent spoke before the caller had finished'))
  }
}

/** A loop, because it looks at every frame of every call. */
function hasAudible(frame: Int16Array): boolean {
  for (let i = 0; i < frame.length; i++) if (isAudible(frame[i]!)) return true
  return false
}

function isAudible(sample: number): boolean {
  return Math.abs(sample) >= AUDIBLE_PEAK
}
