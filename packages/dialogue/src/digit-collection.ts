import type { Ms } from '@parley/kernel'

const MOST_DIGITS = 100
/** Before the first `collect`. */
const DEFAULT: DigitRules = { digitLimit: null, terminationKey: null, timeoutMs: 3000 }

/** Digits are complete at `digitLimit` (null: 100), at `terminationKey` (not part of them), or `timeoutMs` after the last. */
export interface DigitRules {
  readonly digitLimit: number | null
  readonly terminationKey: string | null
  readonly timeoutMs: Ms
}

/** Collects the caller's digits until they are complete, and reports them when the agent may be interrupted. */
export class DigitCollection {
  readonly #report: (digits: string, atMs: Ms) => void
  #rules = DEFAULT
  #digits = ''
  #lastAt: Ms = 0
  /** Complete, and not yet reported. */
  #complete: { readonly digits: string; readonly atMs: Ms }[] = []
  #held = false

  constructor(report: (digits: string, atMs: Ms) => void) {
    this.#report = report
  }

  collect(rules: DigitRules): void {
    this.#rules = rules
    if (this.#digits.length >= this.#limit) this.#finish(this.#lastAt)
  }

  /** Whether `digit` was accepted: 0-9, A-D, *, #, but no termination key before the first digit. */
  press(now: Ms, digit: string): boolean {
    if (!/^[0-9A-D*#]$/.test(digit)) return false
    const isTerminator = digit === this.#rules.terminationKey
    if (isTerminator && this.#digits === '') return false
    this.#lastAt = now
    if (!isTerminator) this.#digits += digit
    if (isTerminator || this.#digits.length >= this.#limit) this.#finish(now)
    return true
  }

  get isCollecting(): boolean {
    return this.#digits !== ''
  }

  settle(now: Ms, held: boolean): void {
    this.#held = held
    if (this.#digits !== '' && now >= this.#timesOutAt) this.#finish(this.#lastAt)
    if (held) return
    for (const { digits, atMs } of this.#complete.splice(0)) this.#report(digits, atMs)
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#digits === '' || this.#held ? undefined : this.#timesOutAt
  }

  get #timesOutAt(): Ms {
    return this.#lastAt + this.#rules.timeoutMs
  }

  get #limit(): number {
    return Math.min(this.#rules.digitLimit ?? MOST_DIGITS, MOST_DIGITS)
  }

  #finish(atMs: Ms): void {
    const waiting = this.#complete.reduce((sum, { digits }) => sum + digits.length, 0)
    if (waiting + this.#digits.length <= MOST_DIGITS) this.#complete.push({ digits: this.#digits, atMs })
    this.#digits = ''
  }
}
