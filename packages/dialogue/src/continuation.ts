import type { Ms } from '@parley/kernel'

/** A turn that looked unfinished counts as settled after this much silence. */
const QUIET_MS: Ms = 700

type Report = { readonly type: 'turn-continued' } | { readonly type: 'turn-settled'; readonly settled: boolean }

/**
 * After a turn that looked unfinished: whether the caller goes on. The turn is settled while the caller has made no sound for
 * 700 ms; new words continue it and end the observation, and so does the next turn.
 */
export class Continuation {
  readonly #report: (report: Report) => void
  #since: Ms | null = null
  #isSettled = false
  #deadline: Ms | undefined

  constructor(report: (report: Report) => void) {
    this.#report = report
  }

  /** A turn was reported. An unfinished turn before it is continued by it. */
  turn(now: Ms, isUnfinished: boolean): void {
    this.words()
    this.#since = isUnfinished ? now : null
    this.#isSettled = false
  }

  /** The caller said new words. */
  words(): void {
    if (this.#since === null) return
    this.#since = null
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
