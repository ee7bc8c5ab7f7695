import { type Ms, systemTime, type Time, type Timer } from '@parley/kernel'

/** What was measured while all calls lived. */
export interface LiveSpan<Sample> {
  readonly before: Sample
  readonly after: Sample
  /** Sum of the seconds of all calls. */
  readonly callSeconds: number
  readonly seconds: number
}

interface LiveWindowOptions<Sample> {
  readonly calls: number
  /** How long the calls live together; null: until the first has said all its lines. */
  readonly seconds: number | null
  readonly sample: () => Sample
  /** Called when all calls live; default: nothing. */
  readonly onBegin?: () => void
  readonly time?: Time
}

/**
 * The time in which all calls of a row live at once. It begins when the last of them has warmed up, so that figures of it contain neither
 * set-up nor compilation of the code nor hang-ups. A call that breaks counts until it does.
 */
export class LiveWindow<Sample> {
  readonly #options: LiveWindowOptions<Sample>
  readonly #time: Time
  #warming: number
  #live = 0
  #began: { readonly before: Sample; readonly at: Ms } | null = null
  #lastAt: Ms = 0
  #callMs: Ms = 0
  #span: LiveSpan<Sample> | null = null
  #isOver = false
  #timer: Timer | null = null

  constructor(options: LiveWindowOptions<Sample>) {
    this.#options = options
    this.#time = options.time ?? systemTime
    this.#warming = options.calls
  }

  /** Whether the calls may hang up. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Null: the calls never lived at once. */
  get span(): LiveSpan<Sample> | null {
    return this.#span
  }

  /** A call has warmed up. */
  warm(): void {
    this.#live++
    this.#settle()
  }

  /** A warm call has said all its lines. */
  done(): void {
    this.#close()
  }

  /** A call broke; `isWarm`: after it had warmed up. */
  broken(isWarm: boolean): void {
    this.#count()
    if (isWarm) this.#live--
    else this.#settle()
    if (this.#live === 0 && this.#warming === 0) this.#close()
  }

  #settle(): void {
    this.#warming--
    if (this.#warming > 0 || this.#isOver || this.#live === 0) return
    const at = this.#time.now()
    this.#began = { before: this.#options.sample(), at }
    this.#lastAt = at
    const { seconds, onBegin } = this.#options
    onBegin?.()
    if (seconds !== null) this.#timer = this.#time.at(at + seconds * 1000, () => this.#close())
  }

  #count(): void {
    const now = this.#time.now()
    if (this.#began !== null && !this.#isOver) this.#callMs += this.#live * (now - this.#lastAt)
    this.#lastAt = now
  }

  #close(): void {
    if (this.#isOver) return
    this.#count()
    this.#isOver = true
    this.#timer?.cancel()
    if (this.#began === null) return
    const { before, at } = this.#began
    const seconds = (this.#time.now() - at) / 1000
    this.#span = { before, after: this.#options.sample(), callSeconds: this.#callMs / 1000, seconds }
  }
}
