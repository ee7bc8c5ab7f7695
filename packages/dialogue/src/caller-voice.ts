import type { Ms } from '@parley/kernel'
import type { Prosody } from './protocol.ts'

/** A voice without a recognised word for this long counts as noise, such as music or machines. */
const NOISE_AFTER_MS: Ms = 6000
/** A shorter gap, between two words or in a stop consonant, does not end a stretch of voice. */
export const BRIDGED_MS: Ms = 200

/** Tracks by voice activity whether the caller speaks. */
export class CallerVoice {
  /** Between `voice-started` and `voice-stopped`. */
  speaking = false
  /** Start of the current stretch of voice, else of the last one. */
  startedAt: Ms = Number.NEGATIVE_INFINITY
  stoppedAt: Ms = Number.NEGATIVE_INFINITY
  prosody: Prosody | null = null
  /** When the last word was recognised. */
  #wordAt: Ms = Number.NEGATIVE_INFINITY
  #declaredNoise = false

  /** At least one stretch of voice has ended. */
  get hasSpoken(): boolean {
    return this.stoppedAt > Number.NEGATIVE_INFINITY
  }

  start(at: Ms): void {
    if (this.speaking) return
    this.speaking = true
    this.prosody = null
    if (at - this.stoppedAt < BRIDGED_MS) return
    this.startedAt = at
    this.#declaredNoise = false
  }

  stop(at: Ms, prosody: Prosody | null): void {
    if (!this.speaking) return
    this.speaking = false
    this.stoppedAt = Math.max(at, this.startedAt)
    this.prosody = prosody
  }

  /** Words were recognised: the current voice is speech. */
  word(at: Ms): void {
    this.#wordAt = at
    this.#declaredNoise = false
  }

  /** The current voice counts as noise until another stretch begins or a word is recognised in it. */
  declareNoise(): void {
    this.#declaredNoise = true
  }

  /** Whether there is a voice that does not count as noise. */
  isTalking(now: Ms): boolean {
    return this.speaking && !this.#declaredNoise && now < this.#noiseFrom
  }

  /** When the current voice will count as noise; undefined: there is no voice, or it counts as noise already. */
  noiseDeadline(now: Ms): Ms | undefined {
    return this.isTalking(now) ? this.#noiseFrom : undefined
  }

  get #noiseFrom(): Ms {
    return Math.max(this.startedAt, this.#wordAt) + NOISE_AFTER_MS
  }
}
