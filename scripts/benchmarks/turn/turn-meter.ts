import { type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import type { WireTap } from './wire-session.ts'

/**
 * A frame is audible when a sample of it reaches this, -30 dB below full scale: words' tones, 27 dB below the speech that
 * they travel with, do not.
 */
export const AUDIBLE_PEAK = 1000

/** The pause between a caller's turn and the agent's answer, by the clock of the tap. */
export interface MeasuredTurn {
  /** The caller's last audible frame was handed to the socket. */
  readonly lastSentAt: Ms
  /** Its last audible sample was on the line: a frame is sent when its last sample was spoken. */
  readonly lastSoundAt: Ms
  /** The agent's first audible frame arrived. */
  readonly firstHeardAt: Ms
}

/** Measures one call's turns from the frames that pass its socket. One turn at a time. */
export class TurnMeter implements WireTap {
  #lastHeardAt: Ms | null = null
  #turn: PromiseWithResolvers<MeasuredTurn> | null = null
  #end: Omit<MeasuredTurn, 'firstHeardAt'> | null = null
  /** All audio of the caller's turn has been sent. */
  #isSent = false

  /** When the agent was last audible; null: never. */
  get lastHeardAt(): Ms | null {
    return this.#lastHeardAt
  }

  /**
   * The caller begins to speak: what is played from now on is the turn. Resolves when the answer begins; rejects when the
   * agent is audible before the caller is done, for then there is no pause to be measured.
   */
  turn(): Promise<MeasuredTurn> {
    this.#turn = Promise.withResolvers()
    this.#end = null
    this.#isSent = false
    return this.#turn.promise
  }

  sent(at: Ms, frame: Int16Array, left: number): void {
    if (this.#turn === null || this.#isSent) return
    const last = frame.findLastIndex(isAudible)
    if (last >= 0) this.#end = { lastSentAt: at, lastSoundAt: at - samplesToMs(frame.length - 1 - last, NARROWBAND) }
    this.#isSent = left === 0 && this.#end !== null
  }

  heard(at: Ms, frame: Int16Array): void {
    if (!frame.some(isAudible)) return
    this.#lastHeardAt = at
    const turn = this.#turn
    if (turn === null) return
    this.#turn = null
    if (this.#isSent && this.#end !== null) turn.resolve({ ...this.#end, firstHeardAt: at })
    else turn.reject(new Error('the agent talked while the caller did'))
  }
}

function isAudible(sample: number): boolean {
  return Math.abs(sample) >= AUDIBLE_PEAK
}
