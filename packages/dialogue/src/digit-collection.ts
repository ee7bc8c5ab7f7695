import type { Ms } from '@parley/kernel'

const MOST_DIGITS = 100
/** Until the flow says otherwise. */
const DEFAULT: DigitRules = { digitLimit: null, terminationKey: null, timeoutMs: 3000 }

/** When digits are complete: so many, at this key (which is not one of them), or so long after the last. */
export interface DigitRules {
  readonly digitLimit: number | null
  readonly terminationKey: string | null
  readonly timeoutMs: Ms
}

/** Digits that the caller enters, gathered until they are complete; held back while the agent may not be interrupted. */
export class DigitCollection {
  readonly #give: (digits: string, atMs: Ms) => void
  #rules = DEFAULT
  #digits = ''
  #lastAt: Ms = 0
  /** Complete, and not yet given. */
  #complete: { readonly digits: string; readonly atMs: Ms }[] = []
  #held = false

  constructor(give: (digits: string, atMs: Ms) => void) {
    this.#give = give
  }

  collect(rules: DigitRules): void {
    this.#rules = rules
    if (this.#digits.length >= this.#limit) this.#finish(this.#lastAt)
  }

  /** Whether `digit` is one that was entered: 0-9, A-D, *, # and no terminator of nothing. */
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
    for (const { digits, atMs } of this.#complete.splice(0)) this.#give(digits, atMs)
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
    const kept = this.#complete.reduce((sum, { digits }) => sum + digits.length, 0)
    if (kept + this.#digits.length <= MOST_DIGITS) this.#complete.push({ digits: this.#digits, atMs })
    this.#digits = ''
  }
}
