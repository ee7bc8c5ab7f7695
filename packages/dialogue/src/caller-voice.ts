import type { Ms } from '@parley/kernel'
import type { Prosody } from './protocol.ts'

/** A voice in which no word is understood for so long is noise: music, a room, a machine. */
const NOISE_AFTER_MS: Ms = 6000
/** A gap shorter than this is inside a stretch: between two words, or in a stop before a vowel. */
export const BRIDGED_MS: Ms = 200

/** Whether the caller's line carries a voice, by voice activity alone. */
export class CallerVoice {
  /** Between `voice-started` and `voice-stopped`. */
  speaking = false
  /** Of the stretch that runs, or ran last; short gaps are bridged. */
  startedAt: Ms = Number.NEGATIVE_INFINITY
  stoppedAt: Ms = Number.NEGATIVE_INFINITY
  prosody: Prosody | null = null
  /** When the last word was heard that was understood. */
  #wordAt: Ms = Number.NEGATIVE_INFINITY
  #declaredNoise = false

  /** A stretch has run to its end. */
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

  /** Words were understood: whatever runs is speech. */
  word(at: Ms): void {
    this.#wordAt = at
    this.#declaredNoise = false
  }

  /** What runs is not speech, until another stretch begins or a word is understood in it. */
  declareNoise(): void {
    this.#declaredNoise = true
  }

  /** The caller is speaking, as far as anybody can tell. */
  isTalking(now: Ms): boolean {
    return this.speaking && !this.#declaredNoise && now < this.#noiseFrom
  }

  /** When what runs will be taken for noise; undefined when nothing runs or it is taken for noise already. */
  noiseDeadline(now: Ms): Ms | undefined {
    return this.isTalking(now) ? this.#noiseFrom : undefined
  }

  get #noiseFrom(): Ms {
    return Math.max(this.startedAt, this.#wordAt) + NOISE_AFTER_MS
  }
}
