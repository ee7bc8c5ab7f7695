import type { UserTurn } from '@parley/conversation'
import type { CallerTurn } from '@parley/dialogue'
import type { CallClock } from './call-clock.ts'

/** The words and the language that were recognised since the caller's last turn. */
export class RecognisedSpeech {
  readonly #clock: CallClock
  /** Final words. */
  #words = ''
  /** The language that the recogniser detected last (BCP 47); null: none. */
  #language: string | null = null

  constructor(clock: CallClock) {
    this.#clock = clock
  }

  /** Returns the words of the turn so far. */
  heard(text: string, isFinal: boolean): string {
    const words = `${this.#words} ${text}`.trim()
    if (isFinal) this.#words = words
    return words
  }

  detected(language: string): void {
    this.#language = language
  }

  /** The caller's turn is over: the words that follow belong to the next one. */
  turnEnded(): void {
    this.#words = ''
  }

  /** The turn on the call's clock, with the language that was detected; the next turn begins without a language. */
  userTurn(turn: CallerTurn): UserTurn {
    const start_ms = this.#clock.offsetOf(turn.startMs)
    const end_ms = this.#clock.offsetOf(turn.endMs)
    const span = start_ms === null || end_ms === null ? null : { start_ms, end_ms }
    const language = this.#language
    this.#language = null
    return {
      text: turn.text,
      language,
      span,
      observed_ms: this.#clock.offsetOf(turn.observedMs),
      isUnfinished: turn.isUnfinished,
    }
  }
}
