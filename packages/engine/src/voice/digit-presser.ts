import type { LegRequest } from '@parley/flow'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { CallLeg, LegEvent } from '@parley/leg'
import type { LegRequestHandler, OnLegAnswer } from './leg-request-handler.ts'

type PressDigits = LegRequest & { readonly type: 'press_digits' }

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
export class DigitPresser implements LegRequestHandler<PressDigits> {
  readonly #leg: Pick<CallLeg, 'sendDigits'>
  readonly #time: Time
  readonly #onAnswer: OnLegAnswer
  readonly #jobs: Job[] = []
  #timer: Timer | null = null

  constructor(leg: Pick<CallLeg, 'sendDigits'>, time: Time, onAnswer: OnLegAnswer) {
    this.#leg = leg
    this.#time = time
    this.#onAnswer = onAnswer
  }

  /** `digits`: `0-9 * #` and `w`, a pause. */
  start(requestId: string, { digits, delay_ms: delayMs }: PressDigits): void {
    const job = { requestId, pieces: digits.split(/(w)/).filter(piece => piece !== ''), left: 0 }
    this.#jobs.push(job)
    if (this.#jobs.length === 1) this.#after(delayMs)
  }

  onLeg(event: LegEvent): void {
    const job = this.#jobs[0]
    if (event.type !== 'digits-sent' || job === undefined || job.left === 0) return
    job.left = Math.max(0, job.left - event.digits.length)
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
      return this.#onAnswer(job.requestId, { type: 'digits_pressed' }, null)
    }
    if (piece === 'w') return this.#after(PAUSE_MS)
    job.left = piece.length
    this.#after(piece.length * MAX_PER_DIGIT_MS)
    this.#leg.sendDigits(piece)
  }
}
