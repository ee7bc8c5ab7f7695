import type { Ms } from '@parley/kernel'

/** A longer gap ends a greeting that goes on. */
const PAUSE_MS: Ms = 1200
/** A tone that begins within this time of a voice is that voice. */
const TONE_ONSET_MS: Ms = 150

/** The far end's talk since the answer: how long it lasted, and since when it is silent. Tones are no talk. */
export class FarEndTalk {
  #startedAt: Ms | null = null
  #stoppedAt: Ms = Number.NEGATIVE_INFINITY
  /** Talk before the current stretch. */
  #spokenMs: Ms = 0
  /** Start of the current greeting: talk without a long pause. */
  #greetingFrom: Ms | null = null
  #toneFrom: Ms | null = null
  #toneUntil: Ms = Number.NEGATIVE_INFINITY
  /** Start of the first talk; null: none yet. */
  firstAt: Ms | null = null

  get isTalking(): boolean {
    return this.#startedAt !== null && !this.isTone
  }

  get isTone(): boolean {
    return this.#toneFrom !== null
  }

  /** End of the last stretch of talk that is over. */
  get stoppedAt(): Ms {
    return this.#stoppedAt
  }

  /** The sound that is audible at `at`, or that begins there, and the silence before it. */
  soundAt(at: Ms): { readonly startedAt: Ms; readonly silentMs: Ms } {
    const startedAt = this.#startedAt ?? at
    return { startedAt, silentMs: startedAt - Math.max(this.#stoppedAt, this.#toneUntil) }
  }

  start(at: Ms): void {
    if (this.#startedAt !== null) return
    this.#startedAt = at
    const gap = at - this.#stoppedAt
    if (gap > PAUSE_MS || this.#greetingFrom === null) this.#greetingFrom = at
    this.firstAt ??= at
  }

  stop(at: Ms): void {
    if (this.#startedAt === null) return
    const end = Math.max(at, this.#startedAt)
    const overlap = Math.max(
      0,
      Math.min(end, this.#toneUntil) - Math.max(this.#startedAt, this.#toneFrom ?? this.#toneUntil),
    )
    this.#add(Math.max(0, end - this.#startedAt - overlap), end)
  }

  /** A tone is audible from `at` on: voice activity that began with it is the tone. */
  toneStarted(at: Ms): void {
    this.#toneFrom = at
    if (this.#startedAt === null) return
    if (at - this.#startedAt <= TONE_ONSET_MS) this.#forget()
    else this.#add(at - this.#startedAt, at)
  }

  /** `endsTalk`: voice activity that goes on after the tone is its echo or noise. */
  toneEnded(at: Ms, endsTalk: boolean): void {
    this.#toneFrom = null
    this.#toneUntil = at
    if (endsTalk && this.#startedAt !== null) {
      this.#startedAt = null
      this.#stoppedAt = at
    } else if (this.#startedAt !== null) this.#startedAt = Math.max(this.#startedAt, at)
  }

  /** Talk since the answer. */
  spokenMs(now: Ms): Ms {
    return this.#spokenMs + (this.isTalking ? Math.max(0, now - this.#startedAt!) : 0)
  }

  /** Length of the greeting that goes on now, pauses included; 0 in a long pause. */
  greetingMs(now: Ms): Ms {
    if (this.#greetingFrom === null) return 0
    if (this.isTalking) return now - this.#greetingFrom
    return now - this.#stoppedAt > PAUSE_MS ? 0 : this.#stoppedAt - this.#greetingFrom
  }

  /** How long there has been no talk since `since` at the earliest; 0 during talk. */
  silentMs(now: Ms, since: Ms): Ms {
    return this.isTalking || this.isTone ? 0 : Math.max(0, now - Math.max(this.#stoppedAt, this.#toneUntil, since))
  }

  /** Forgets all talk; a voice or tone that is audible now counts from its next start. */
  clear(): void {
    this.#startedAt = null
    this.#stoppedAt = Number.NEGATIVE_INFINITY
    this.#spokenMs = 0
    this.#greetingFrom = null
    this.firstAt = null
  }

  #add(ms: Ms, end: Ms): void {
    this.#spokenMs += ms
    this.#startedAt = null
    this.#stoppedAt = end
  }

  /** The current stretch was no talk. */
  #forget(): void {
    if (this.firstAt === this.#startedAt) this.firstAt = null
    if (this.#greetingFrom === this.#startedAt) this.#greetingFrom = null
    this.#startedAt = null
  }
}
