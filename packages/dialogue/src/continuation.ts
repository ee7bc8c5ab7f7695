import type { Ms } from '@parley/kernel'

/** A turn that looked unfinished counts as settled after this much silence. */
const QUIET_MS: Ms = 700
/** Words that are recognised late continue the turn also when the agent has begun to speak this long ago at most. */
const BEGUN_MS: Ms = 1000

type Report = { readonly type: 'turn-continued' } | { readonly type: 'turn-settled'; readonly settled: boolean }

/**
 * After a turn: whether the caller goes on. An unfinished turn is settled while the caller has made no sound for 700 ms; new words
 * continue it and end the observation, and so does the next turn. A turn that looked complete is continued, before the agent's answer
 * is heard, by words that correct it ("no, Wednesday"), and, until a second after that, by words that began before the turn was reported
 * and were recognised late: both can be no answer to what was not heard.
 */
export class Continuation {
  readonly #report: (report: Report) => void
  #since: Ms | null = null
  #isSettled = false
  /** When the last turn was reported, if it looked complete and was not continued since. */
  #completeAt: Ms | null = null
  /** When the agent began to speak after it; null: it has not. */
  #answeredAt: Ms | null = null
  #deadline: Ms | undefined

  constructor(report: (report: Report) => void) {
    this.#report = report
  }

  /** A turn was reported. An unfinished turn before it is continued by it. */
  turn(now: Ms, isUnfinished: boolean): void {
    if (this.#since !== null) this.#continue()
    this.#since = isUnfinished ? now : null
    this.#completeAt = isUnfinished ? null : now
    this.#answeredAt = null
    this.#isSettled = false
  }

  /** The caller said new words, of which the first began at `startMs`. `correct`: whether they take back what was said before. */
  words(now: Ms, startMs: Ms, correct: () => boolean): void {
    if (this.#since !== null || this.#continueComplete(now, startMs, correct)) this.#continue()
  }

  /** The caller hears the agent from now on. */
  agentSpoke(now: Ms): void {
    this.#answeredAt ??= now
  }

  #continueComplete(now: Ms, startMs: Ms, correct: () => boolean): boolean {
    if (this.#completeAt === null) return false
    if (startMs < this.#completeAt) return this.#answeredAt === null || now <= this.#answeredAt + BEGUN_MS
    return this.#answeredAt === null && correct()
  }

  #continue(): void {
    this.#since = null
    this.#completeAt = null
    this.#report({ type: 'turn-continued' })
  }

  /** `soundUntil`: the end of the caller's last sound; null while there is one. */
  settle(now: Ms, soundUntil: Ms | null): void {
    this.#deadline = undefined
    if (this.#since === null) return
    const settledAt = soundUntil === null ? null : Math.max(this.#since, soundUntil) + QUIET_MS
    const isSettled = settledAt !== null && now >= settledAt
    if (settledAt !== null && !isSettled) this.#deadline = settledAt
    if (isSettled === this.#isSettled) return
    this.#isSettled = isSettled
    this.#report({ type: 'turn-settled', settled: isSettled })
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }
}
