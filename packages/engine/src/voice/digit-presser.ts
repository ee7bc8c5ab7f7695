import type { Ms, Time, Timer } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'

/** Duration of the pause `w`. */
const PAUSE_MS: Ms = 500
/** Timeout for each digit: a far end that takes digits by INFO may be slow or silent. */
const MAX_PER_DIGIT_MS: Ms = 2000

interface Job {
  readonly requestId: string
  readonly pieces: string[]
  /** Digits of the current piece that are not sent yet. */
  left: number
}

/** Sends digits: after a delay, with pauses, one request at a time. */
export class DigitPresser {
  readonly #leg: Pick<CallLeg, 'sendDigits'>
  readonly #time: Time
  readonly #onPressed: (requestId: string) => void
  readonly #jobs: Job[] = []
  #timer: Timer | null = null

  constructor(leg: Pick<CallLeg, 'sendDigits'>, time: Time, onPressed: (requestId: string) => void) {
    this.#leg = leg
    this.#time = time
    this.#onPressed = onPressed
  }

  /** `digits`: `0-9 * #` and `w`, a pause. */
  press(requestId: string, digits: string, delayMs: Ms): void {
    const job = { requestId, pieces: digits.split(/(w)/).filter(piece => piece !== ''), left: 0 }
    this.#jobs.push(job)
    if (this.#jobs.length === 1) this.#after(delayMs)
  }

  /** Call it with each digits-sent event of the leg. */
  onSent(digits: string): void {
    const job = this.#jobs[0]
    if (job === undefined || job.left === 0) return
    job.left = Math.max(0, job.left - digits.length)
    if (job.left === 0) this.#after(0)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#jobs.length = 0
  }

  #after(ms: Ms): void {
    this.#timer?.cancel()
    this.#timer = this.#time.at(this.#time.now() + ms, () => this.#next())
  }

  #next(): void {
    const job = this.#jobs[0]
    if (job === undefined) return
    const piece = job.pieces.shift()
    if (piece === undefined) {
      this.#jobs.shift()
      if (this.#jobs.length > 0) this.#after(0)
      return this.#onPressed(job.requestId)
    }
    if (piece === 'w') return this.#after(PAUSE_MS)
    job.left = piece.length
    this.#after(piece.length * MAX_PER_DIGIT_MS)
    this.#leg.sendDigits(piece)
  }
}
