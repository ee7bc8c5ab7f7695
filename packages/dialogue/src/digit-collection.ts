import type { Ms } from '@parley/kernel'

const MAX_DIGITS = 100
/** Rules before the first `collect`. */
const DEFAULT: DigitRules = { question: null, digitLimit: null, terminationKey: null, timeoutMs: 3000, answers: null }

/**
 * Digits are complete at `digitLimit` (null: 100), at `terminationKey` (which is not part of them), when they can become no longer
 * one of the `answers`, or `timeoutMs` after the last digit.
 */
export interface DigitRules {
  /** The question that the digits answer; null: none in particular. */
  readonly question: number | null
  readonly digitLimit: number | null
  readonly terminationKey: string | null
  readonly timeoutMs: Ms
  /** The digits that the question waits for; null: any. */
  readonly answers: readonly string[] | null
}

interface Collected {
  readonly digits: string
  readonly atMs: Ms
  readonly question: number | null
}

interface DigitListener {
  complete(collected: Collected): void
  /** The digits answer no question. */
  unused(digits: string, atMs: Ms): void
}

export function isDigit(digit: string): boolean {
  return /^[0-9A-D*#]$/.test(digit)
}

/** Collects the caller's digits until they are complete, and reports them with the question that was open when they were pressed. */
export class DigitCollection {
  readonly #listener: DigitListener
  #rules = DEFAULT
  #digits = ''
  #lastAt: Ms = 0
  #finishedAt: Ms = Number.NEGATIVE_INFINITY
  /** Complete digits that are not yet reported. */
  #complete: Collected[] = []
  #isHeld = false

  constructor(listener: DigitListener) {
    this.#listener = listener
  }

  /** Digits that were pressed before the first question answer it; those of another question are dropped. */
  collect(rules: DigitRules): void {
    const isAnother = this.#rules.question !== null && this.#rules.question !== rules.question
    if (isAnother) this.#drop()
    this.#rules = rules
    if (this.#isComplete) this.#finish(this.#lastAt)
  }

  /** Whether `digit` was accepted: 0-9, A-D, *, #, but no termination key before the first digit. */
  press(now: Ms, digit: string): boolean {
    if (!isDigit(digit)) return false
    const isTerminator = digit === this.#rules.terminationKey && !this.#isAnswer(digit)
    if (isTerminator && this.#digits === '') {
      // Callers press it also after digits that their limit has completed.
      if (now - this.#finishedAt > this.#rules.timeoutMs) this.#listener.unused(digit, now)
      return false
    }
    this.#lastAt = now
    if (!isTerminator) this.#digits += digit
    if (isTerminator || this.#isComplete) this.#finish(now)
    return true
  }

  get isCollecting(): boolean {
    return this.#digits !== ''
  }

  /** A question waits for digits. */
  get isAsked(): boolean {
    return this.#rules.question !== null
  }

  /** `isHeld`: complete digits are not reported yet, since the agent may not be interrupted. */
  settle(now: Ms, isHeld: boolean): void {
    this.#isHeld = isHeld
    if (this.#digits !== '' && now >= this.#timesOutAt) this.#finish(this.#lastAt)
    if (isHeld) return
    for (const collected of this.#complete.splice(0)) this.#listener.complete(collected)
  }

  /** The call is over: reports all digits that were not reported yet. */
  end(): void {
    for (const { digits, atMs } of this.#complete.splice(0)) this.#listener.unused(digits, atMs)
    this.#drop()
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#digits === '' || this.#isHeld ? undefined : this.#timesOutAt
  }

  get #timesOutAt(): Ms {
    return this.#lastAt + this.#rules.timeoutMs
  }

  get #isComplete(): boolean {
    if (this.#digits === '') return false
    const limit = Math.min(this.#rules.digitLimit ?? MAX_DIGITS, MAX_DIGITS)
    return this.#digits.length >= limit || !this.#mayGoOn
  }

  /** Whether more digits may follow: an answer is longer than the digits so far and begins with them. */
  get #mayGoOn(): boolean {
    const { answers } = this.#rules
    const digits = this.#digits
    return answers === null || answers.some(answer => answer.length > digits.length && answer.startsWith(digits))
  }

  /** Whether the key is the whole of an answer, so that it does not end the digits before it. */
  #isAnswer(key: string): boolean {
    return this.#digits === '' && this.#rules.answers?.includes(key) === true
  }

  #drop(): void {
    if (this.#digits !== '') this.#listener.unused(this.#digits, this.#lastAt)
    this.#digits = ''
  }

  #finish(atMs: Ms): void {
    const waiting = this.#complete.reduce((sum, { digits }) => sum + digits.length, 0)
    this.#finishedAt = atMs
    const collected = { digits: this.#digits, atMs, question: this.#rules.question }
    this.#digits = ''
    if (waiting + collected.digits.length <= MAX_DIGITS) this.#complete.push(collected)
    else this.#listener.unused(collected.digits, atMs)
  }
}
