import type { Ms } from '@parley/kernel'

/** A voice that begins within this time of the digits, or of the end of such a voice, belongs to them. */
const JOINS_WITHIN_MS: Ms = 500
/** A gap of this length does not end a voice that was under way when the agent began to speak. */
const BRIDGED_MS: Ms = 300
/** Nobody answers the agent within this time of the key. */
const AFTER_KEY_MS: Ms = 300
/** Speech that goes on for longer than this after the digits is about something else. */
const LONGEST_MS: Ms = 3000
/** The recogniser is asked for the words this long after such a voice. */
const FINALIZE_AFTER_MS: Ms = 300

/**
 * What the caller says beside digits that answered the question: the voice that was under way, and a voice that begins within
 * 500 ms, before the agent speaks. Gaps between words do not end it while the agent speaks. `extend` gets the time up to which words belong to it.
 */
export class AsideSpeech {
  readonly #extend: (until: Ms) => void
  #beganAt: Ms = Number.NEGATIVE_INFINITY
  #endsAt: Ms = Number.NEGATIVE_INFINITY
  /** A new voice that begins up to here belongs to the digits. */
  #joinsUntil: Ms = Number.NEGATIVE_INFINITY
  /** How long after such a voice a new one belongs to it. */
  #joinsWithinMs: Ms = JOINS_WITHIN_MS
  isVoiceUnderWay = false
  /** When the recogniser must be asked for its outstanding words; null: it need not be. */
  finalizeAt: Ms | null = null

  constructor(extend: (until: Ms) => void) {
    this.#extend = extend
  }

  /** Digits were complete at `now`. */
  begin(now: Ms, isSpeaking: boolean): void {
    this.#beganAt = now
    this.#endsAt = now + LONGEST_MS
    this.#joinsUntil = now + JOINS_WITHIN_MS
    this.#joinsWithinMs = JOINS_WITHIN_MS
    this.isVoiceUnderWay = isSpeaking
    this.#extend(isSpeaking ? this.#endsAt : this.#joinsUntil)
  }

  /** Whether the voice belongs to the digits. */
  voiceStarted(at: Ms): boolean {
    if (at > Math.min(this.#joinsUntil, this.#endsAt)) return false
    this.isVoiceUnderWay = true
    this.finalizeAt = null
    this.#extend(this.#endsAt)
    return true
  }

  /** Whether the voice belonged to the digits. */
  voiceStopped(at: Ms): boolean {
    if (!this.isVoiceUnderWay) return false
    this.isVoiceUnderWay = false
    this.finalizeAt = at + FINALIZE_AFTER_MS
    const until = Math.min(at, this.#endsAt)
    if (this.#joinsUntil > Number.NEGATIVE_INFINITY) this.#joinsUntil = until + this.#joinsWithinMs
    this.#extend(Math.max(until, Math.min(this.#joinsUntil, this.#endsAt)))
    return at <= this.#endsAt
  }

  /**
   * The agent answers: what the caller begins to say from now on answers the agent. A voice is detected some time after its onset, and a
   * telephone sends no voice while a key is down, so that one which was under way seems to begin just after the key.
   */
  agentSpoke(now: Ms): void {
    this.#joinsWithinMs = BRIDGED_MS
    const until = Math.max(now, this.#beganAt + AFTER_KEY_MS)
    if (this.isVoiceUnderWay || this.#joinsUntil <= until) return
    this.#extend(until)
    this.#joinsUntil = until
  }

  /** Whether the recogniser must be asked for its outstanding words now; true once. */
  takeFinalize(now: Ms): boolean {
    if (this.finalizeAt === null || now < this.finalizeAt) return false
    this.finalizeAt = null
    return true
  }
}
