import type { Ms } from '@parley/kernel'

/** A turn that looked unfinished is settled after this much silence, and in any case after `LONGEST_MS`. */
const QUIET_MS: Ms = 700
const LONGEST_MS: Ms = 2000

/** After a turn that looked unfinished: whether the caller goes on. Reports once, `continued` or `settled`. */
export class Continuation {
  readonly #report: (type: 'turn-continued' | 'turn-settled') => void
  #since: Ms | null = null
  #deadline: Ms | undefined

  constructor(report: (type: 'turn-continued' | 'turn-settled') => void) {
    this.#report = report
  }

  /** A turn was reported. A turn before it that was not settled yet is continued by it. */
  turn(now: Ms, isUnfinished: boolean): void {
    if (this.#since !== null) this.#end('turn-continued')
    this.#since = isUnfinished ? now : null
  }

  /** The caller said new words. */
  words(): void {
    if (this.#since !== null) this.#end('turn-continued')
  }

  /** `soundUntil`: the end of the caller's last sound; null while there is one. */
  settle(now: Ms, soundUntil: Ms | null): void {
    this.#deadline = undefined
    if (this.#since === null) return
    const latest = this.#since + LONGEST_MS
    const at = soundUntil === null ? latest : Math.min(Math.max(this.#since, soundUntil) + QUIET_MS, latest)
    if (now >= at) this.#end('turn-settled')
    else this.#deadline = at
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }

  #end(how: 'turn-continued' | 'turn-settled'): void {
    this.#since = null
    this.#report(how)
  }
}
