import type { Ms } from '@parley/kernel'
import {
  BEEP_TAIL_MS,
  LONE_SOUND_MS,
  SHORTEST_BEEP_MS,
  SHORTEST_LONE_BEEP_MS,
  SHORTEST_PURE_BEEP_MS,
  SILENCE_BEFORE_BEEP_MS,
  SPLIT_BEEP_KNOWN_MS,
  SPLIT_TONE_HZ,
  SPLIT_TONE_MS,
  SURE_BEEP_MS,
  SURE_PURE_BEEP_MS,
} from './answer-thresholds.ts'
import type { AnswerInput } from './protocol.ts'

type ToneEnd = AnswerInput & { readonly type: 'tone-ended' }

/** Which tones of the far end are the beep after which a message is left. */
export class BeepAfterGreeting {
  #hz = 0
  #startedAt: Ms = 0
  #endedAt: Ms = Number.NEGATIVE_INFINITY
  /** The tone began as a sound of its own, after silence. */
  #isLone = false
  /** End of a tone that is a beep if silence follows; null: none. */
  #openAt: Ms | null = null
  /** End of a tone that is a beep unless it goes on; null: none. */
  #endAt: Ms | null = null

  /** Frequency of the last tone. */
  get hz(): number {
    return this.#hz
  }

  /** `sound`: the voice activity that the tone is a part of, if any, and how long it was silent before. */
  started(hz: number, at: Ms, sound: { readonly startedAt: Ms; readonly silentMs: Ms }): void {
    // A lost packet splits a tone.
    const goesOn = at - this.#endedAt <= SPLIT_TONE_MS && Math.abs(hz - this.#hz) <= SPLIT_TONE_HZ
    if (!goesOn) {
      this.#startedAt = at
      this.#isLone = at - sound.startedAt <= LONE_SOUND_MS && sound.silentMs >= SILENCE_BEFORE_BEEP_MS
    }
    this.#hz = hz
    this.#openAt = null
    this.#endAt = null
  }

  /** Notes the end of a tone. Returns whether it was as long as a beep; `isMailbox`: a mailbox has answered. */
  ended({ at, isPure, isIsolated }: ToneEnd, isMailbox: boolean): boolean {
    this.#endedAt = at
    if (isMailbox && isIsolated && this.#isLone) return this.#length(at) >= SHORTEST_LONE_BEEP_MS
    return this.#length(at) >= (isMailbox && isPure ? SHORTEST_PURE_BEEP_MS : SHORTEST_BEEP_MS)
  }

  /** Whether the tone that has just ended is too long and too pure for a voice, whatever follows it. */
  isSure({ at, isPure }: ToneEnd): boolean {
    return isPure && this.#length(at) >= SURE_PURE_BEEP_MS
  }

  /** The tone that has just ended passed into another sound: it was a beep if silence follows soon. */
  awaitSilence(): void {
    if (this.#length(this.#endedAt) >= SURE_BEEP_MS) this.#openAt = this.#endedAt
  }

  /** The tone that ended at `at` is a beep unless another part of it follows, which only silence or time shows. */
  awaitMore(at: Ms): void {
    this.#endAt = at
  }

  /** When a beep that is followed by no other part of it is over; null: there is none. */
  get overAt(): Ms | null {
    return this.#endAt === null ? null : this.#endAt + SPLIT_BEEP_KNOWN_MS
  }

  /** Returns the end of the beep that `overAt` is about. */
  over(): Ms {
    const at = this.#endAt!
    this.#endAt = null
    return at
  }

  /** The far end is silent since `at`. Returns the end of a beep that was not known to be over; null: none. */
  silent(at: Ms): Ms | null {
    if (this.#endAt !== null) return this.over()
    const since = this.#openAt
    this.#openAt = null
    return since !== null && at - since <= BEEP_TAIL_MS ? Math.max(at, since) : null
  }

  #length(endedAt: Ms): Ms {
    return endedAt - this.#startedAt
  }
}
