import { type Ms, ParleyError, SAMPLES_PER_MS, type Time, type Timer } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent } from '@parley/leg'
import { type Resemblance, resemblance } from './resemblance.ts'

const DRAIN_EVERY_MS = 100

/** A call as the person on the phone has it: talks, presses keys, holds, hangs up, and remembers everything it heard. */
export class PhoneCall {
  readonly leg: CallLeg
  /** Resolves with the end of the call; never rejects. */
  readonly ended: Promise<LegEnd>
  readonly events: LegEvent[] = []
  readonly #time: Time
  readonly #maxHeard: number
  #heard = new Int16Array(SAMPLES_PER_MS * 10_000)
  #heardLength = 0
  #drainTimer: Timer | undefined
  readonly #waits = new Set<(event: LegEvent) => void>()

  /** `memoryMs` of heard audio are kept at most; default 20 minutes. */
  constructor(leg: CallLeg, time: Time, memoryMs: Ms = 20 * 60_000) {
    this.leg = leg
    this.#time = time
    this.#maxHeard = memoryMs * SAMPLES_PER_MS
    let resolveEnd: (end: LegEnd) => void = () => {}
    this.ended = new Promise(resolve => {
      resolveEnd = resolve
    })
    this.#drainLater()
    leg.onEvent(event => {
      this.events.push(event)
      for (const wait of [...this.#waits]) wait(event)
      if (event.type !== 'ended') return
      this.#drainTimer?.cancel()
      resolveEnd(event.end)
    })
  }

  /** Digits of the far end so far. */
  get digits(): string {
    return this.events.map(event => (event.type === 'digit' ? event.digit : '')).join('')
  }

  /** Everything heard so far, 8 kHz; position 0 is the start of the media session. */
  heard(): Int16Array {
    this.#drain()
    return this.#heard.slice(0, this.#heardLength)
  }

  /** How surely `said` is in what was heard. */
  hears(said: Int16Array): Resemblance {
    return resemblance(said, this.heard())
  }

  /** The first event that fits, past or to come. Throws "call_ended" when the call ends first, "wait_timeout" after `timeoutMs`. */
  waitFor<Type extends LegEvent['type']>(
    type: Type,
    timeoutMs: Ms,
    fits: (event: LegEvent & { type: Type }) => boolean = () => true,
  ): Promise<LegEvent & { type: Type }> {
    const matches = (event: LegEvent): event is LegEvent & { type: Type } =>
      event.type === type && fits(event as LegEvent & { type: Type })
    const past = this.events.find(matches)
    if (past !== undefined) return Promise.resolve(past)
    return new Promise((resolve, reject) => {
      const settle = (event: LegEvent) => {
        if (matches(event)) resolve(event)
        else if (event.type === 'ended')
          reject(new ParleyError('call_ended', `the call ended before "${type}": ${event.end.detail}`))
        else return
        this.#waits.delete(settle)
        timer.cancel()
      }
      const timer = this.#time.at(this.#time.now() + timeoutMs, () => {
        this.#waits.delete(settle)
        reject(new ParleyError('wait_timeout', `no "${type}" within ${timeoutMs} ms`))
      })
      this.#waits.add(settle)
    })
  }

  /**
   * Waits for the far end to speak (from now on) and then to pause for `pauseMs`: the caller's turn. Throws
   * "call_ended" and "wait_timeout" like `waitFor`.
   */
  async untilPause(pauseMs: Ms, timeoutMs: Ms): Promise<void> {
    const from = this.events.length
    const since = (event: LegEvent) => this.events.indexOf(event) >= from
    const deadline = this.#time.now() + timeoutMs
    let spoken = await this.waitFor('speech-end', timeoutMs, since)
    for (;;) {
      const last = this.events.indexOf(spoken)
      const left = deadline - this.#time.now()
      const again = await this.waitFor(
        'speech-start',
        Math.min(pauseMs, left),
        event => this.events.indexOf(event) > last,
      ).catch(error => {
        if (error instanceof ParleyError && error.code === 'wait_timeout' && left > pauseMs) return null
        throw error
      })
      if (again === null) return
      const resumed = this.events.indexOf(again)
      spoken = await this.waitFor(
        'speech-end',
        deadline - this.#time.now(),
        event => this.events.indexOf(event) > resumed,
      )
    }
  }

  /** Queues `audio` and waits until it has left, or the call ended. */
  async speak(audio: Int16Array): Promise<void> {
    const position = this.leg.play(audio)
    const budgetMs = audio.length / SAMPLES_PER_MS + 10_000
    await this.waitFor('play-progress', budgetMs, event => event.position >= position)
  }

  async press(digits: string): Promise<void> {
    const before = this.events.length
    this.leg.sendDigits(digits)
    await this.waitFor('digits-sent', digits.length * 500 + 5000, event => this.events.indexOf(event) >= before)
  }

  async hangUp(): Promise<LegEnd> {
    this.leg.hangUp()
    return this.ended
  }

  #drainLater(): void {
    this.#drainTimer = this.#time.at(this.#time.now() + DRAIN_EVERY_MS, () => {
      this.#drain()
      if (this.leg.state !== 'ended') this.#drainLater()
    })
  }

  #drain(): void {
    for (;;) {
      if (this.#heard.length - this.#heardLength < SAMPLES_PER_MS * 1000) this.#grow()
      const room = this.#heard.subarray(this.#heardLength)
      const count = this.leg.readHeard(room)
      this.#heardLength += count
      if (count < room.length) break
    }
    if (this.#heardLength > this.#maxHeard) {
      this.#heard.copyWithin(0, this.#heardLength - this.#maxHeard, this.#heardLength)
      this.#heardLength = this.#maxHeard
    }
  }

  #grow(): void {
    const larger = new Int16Array(this.#heard.length * 2)
    larger.set(this.#heard)
    this.#heard = larger
  }
}
