import type { Ms } from '@parley/kernel'

const MAX_DIGITS = 100
/** Rules before the first `collect`. */
const DEFAULT: DigitRules = { digitLimit: null, terminationKey: null, timeoutMs: 3000 }

/** Digits are complete at `digitLimit` (null: 100), at `terminationKey` (which is not part of them), or `timeoutMs` after the last digit. */
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
  /** Complete digits that are not yet reported. */
  #complete: { readonly digits: string; readonly atMs: Ms }[] = []
  #isHeld = false

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

  /** `isHeld`: complete digits are not reported yet, since the agent may not be interrupted. */
  settle(now: Ms, isHeld: boolean): void {
    this.#isHeld = isHeld
    if (this.#digits !== '' && now >= this.#timesOutAt) this.#finish(this.#lastAt)
    if (isHeld) return
    for (const { digits, atMs } of this.#complete.splice(0)) this.#report(digits, atMs)
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#digits === '' || this.#isHeld ? undefined : this.#timesOutAt
  }

  get #timesOutAt(): Ms {
    return this.#lastAt + this.#rules.timeoutMs
  }

  get #limit(): number {
    return Math.min(this.#rules.digitLimit ?? MAX_DIGITS, MAX_DIGITS)
  }

  #finish(atMs: Ms): void {
    const waiting = this.#complete.reduce((sum, { digits }) => sum + digits.length, 0)
    if (waiting + this.#digits.length <= MAX_DIGITS) this.#complete.push({ digits: this.#digits, atMs })
    this.#digits = ''
  }
}
