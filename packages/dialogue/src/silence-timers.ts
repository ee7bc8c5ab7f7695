import type { Ms } from '@parley/kernel'
import type { TurnSettings } from './protocol.ts'

/** What the call is doing, as far as silence goes. */
export interface CallSilence {
  /** The agent may be expected to listen: it has begun, is not heard (nor paused) and is not busy. */
  readonly agentWaits: boolean
  /** A voice that is not taken for noise. */
  readonly callerTalks: boolean
  /** A turn is being gathered, or digits are. */
  readonly callerIsHeard: boolean
}

/**
 * Silence of both sides. Reminders and the opening count from the last sound or act of either side. The limit counts the
 * time since the caller last said a word, uttered something for a turn, or pressed a digit, without the time before the
 * agent began, while it was heard, paused or busy, and while the caller's voice was on: a cough stops that clock and does
 * not set it back.
 */
export class SilenceTimers {
  readonly #limitMs: Ms
  readonly #emit: (kind: 'opening' | 'reminder' | 'limit') => void
  #lastSoundAt: Ms = Number.NEGATIVE_INFINITY
  #reminders = 0
  #opening: { readonly since: Ms; readonly afterMs: Ms | null } | null = null
  /** Of the limit's clock: what it showed when it stood last, and since when it runs. */
  #idleMs: Ms = 0
  #idleSince: Ms | null = null
  #deadline: Ms | undefined

  constructor(limitMs: Ms, emit: (kind: 'opening' | 'reminder' | 'limit') => void) {
    this.#limitMs = limitMs
    this.#emit = emit
  }

  /** Somebody was heard until then, or did something. */
  sound(at: Ms): void {
    this.#lastSoundAt = Math.max(this.#lastSoundAt, at)
  }

  /** The caller said a word or pressed a digit. */
  callerActed(now: Ms): void {
    this.sound(now)
    this.#reminders = 0
    this.#opening = null
    this.#idleMs = 0
    if (this.#idleSince !== null) this.#idleSince = now
  }

  awaitOpening(now: Ms, afterMs: Ms | null): void {
    this.#opening = { since: now, afterMs }
  }

  settle(now: Ms, silence: CallSilence, settings: TurnSettings): void {
    this.#deadline = undefined
    this.#runClock(now, silence.agentWaits && !silence.callerTalks)
    if (this.#idleSince === null) return
    if (!silence.callerIsHeard) this.#settleSilence(now, settings)
    const limitAt = this.#idleSince + this.#limitMs - this.#idleMs
    if (now < limitAt) this.#wake(limitAt)
    else if (!silence.callerIsHeard) this.#emit('limit')
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }

  #settleSilence(now: Ms, settings: TurnSettings): void {
    if (this.#opening !== null) {
      if (this.#opening.afterMs === null) return
      const openAt = Math.max(this.#lastSoundAt, this.#opening.since) + this.#opening.afterMs
      if (now < openAt) return this.#wake(openAt)
      this.#opening = null
      this.#lastSoundAt = now
      this.#emit('opening')
      return
    }
    const { reminderTriggerMs, reminderMaxCount } = settings
    if (reminderTriggerMs <= 0 || this.#reminders >= reminderMaxCount) return
    const remindAt = this.#lastSoundAt + reminderTriggerMs
    if (now < remindAt) return this.#wake(remindAt)
    this.#reminders++
    this.#lastSoundAt = now
    this.#emit('reminder')
    if (this.#reminders < reminderMaxCount) this.#wake(now + reminderTriggerMs)
  }

  #runClock(now: Ms, runs: boolean): void {
    if (runs === (this.#idleSince !== null)) return
    if (runs) this.#idleSince = now
    else {
      this.#idleMs += now - (this.#idleSince ?? now)
      this.#idleSince = null
    }
  }

  #wake(at: Ms): void {
    if (at < Number.POSITIVE_INFINITY) this.#deadline = Math.min(this.#deadline ?? at, at)
  }
}
