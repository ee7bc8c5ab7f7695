import type { Ms } from '@parley/kernel'
import type { TurnSettings } from './protocol.ts'

/** Activity on the call, which decides what counts as silence. */
interface CallActivity {
  /** The agent has begun, is not busy, and its speech is over (not playing, not paused). */
  readonly agentWaits: boolean
  /** The caller's voice is on and does not count as noise. */
  readonly callerTalks: boolean
  /** A turn or digits are being collected. */
  readonly callerIsHeard: boolean
}

/**
 * Timers of silence on both sides. Reminders and the opening count from the last sound or action of either side. The limit
 * counts from the caller's last word, turn or digit. Its clock does not run before the agent has begun, while the agent speaks,
 * is paused or is busy, and while the caller's voice is on: a cough stops the clock without resetting it.
 */
export class SilenceTimers {
  readonly #limitMs: Ms
  readonly #emit: (kind: 'opening' | 'reminder' | 'limit') => void
  #lastSoundAt: Ms = Number.NEGATIVE_INFINITY
  #reminders = 0
  #opening: { readonly since: Ms; readonly afterMs: Ms | null } | null = null
  /** Clock of the limit: time counted before its last stop, and since when it runs (null: it is stopped). */
  #idleMs: Ms = 0
  #idleSince: Ms | null = null
  #deadline: Ms | undefined

  constructor(limitMs: Ms, emit: (kind: 'opening' | 'reminder' | 'limit') => void) {
    this.#limitMs = limitMs
    this.#emit = emit
  }

  /** Either side made a sound until `at`, or acted. */
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

  settle(now: Ms, silence: CallActivity, settings: TurnSettings): void {
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
