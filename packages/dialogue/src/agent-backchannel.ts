import { type Ms, type Random, randomBelow, randomUint32 } from '@parley/kernel'

/** A backchannel comes only after the caller has spoken for this long since the turn began or since the last one. */
const LONG_STRETCH_MS: Ms = 3000
/** Shortest and longest time since the voice stopped at which a backchannel may be spoken. */
const PAUSE_FROM_MS: Ms = 250
const PAUSE_UNTIL_MS: Ms = 500
const NOT_BEFORE_DECISION_MS: Ms = 300
const AT_MOST_EVERY_MS: Ms = 5000

/** A pause of the caller in the middle of a turn. */
export interface Pause {
  /** When the turn began, when the voice stopped, and when the turn ends if no more speech comes. */
  readonly turnStartMs: Ms
  readonly since: Ms
  readonly decisionMs: Ms
}

/** Decides when the agent speaks a backchannel such as "uh-huh" in a pause of a long turn of the caller. */
export class AgentBackchannel {
  #words: readonly string[]
  readonly #frequency: number
  readonly #random: Random
  readonly #emit: (word: string) => void
  #lastAt: Ms = Number.NEGATIVE_INFINITY
  /** Start of the pause that was considered last; each pause is considered once. */
  #considered: Ms | null = null
  #deadline: Ms | undefined

  constructor(words: readonly string[], frequency: number, random: Random, emit: (word: string) => void) {
    this.#words = words
    this.#frequency = frequency
    this.#random = random
    this.#emit = emit
  }

  setWords(words: readonly string[]): void {
    this.#words = words
  }

  /** `pause`: null while the caller is not pausing in a turn. */
  settle(now: Ms, pause: Pause | null): void {
    this.#deadline = undefined
    if (pause === null || this.#words.length === 0 || pause.since === this.#considered) return
    const at = pause.since + PAUSE_FROM_MS
    const isLong = pause.since - Math.max(pause.turnStartMs, this.#lastAt) > LONG_STRETCH_MS
    const isSoonOver = pause.decisionMs < at + NOT_BEFORE_DECISION_MS
    if (!isLong || isSoonOver || at < this.#lastAt + AT_MOST_EVERY_MS) return
    if (now < at) {
      this.#deadline = at
      return
    }
    this.#considered = pause.since
    if (now > pause.since + PAUSE_UNTIL_MS || randomUint32(this.#random) >= this.#frequency * 2 ** 32) return
    this.#lastAt = now
    this.#emit(this.#words[randomBelow(this.#random, this.#words.length)]!)
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }
}
