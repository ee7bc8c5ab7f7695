import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { VoiceActivity } from '@parley/media'
import { toneBandFilter } from '@parley/providers'

/** Pauses up to this length, between words and sentences, count as talk. */
const PAUSE_INSIDE: Samples = msToSamples(500, NARROWBAND)
const BLOCK: Samples = 160
/** About an hour of speech; beyond that the oldest segments are dropped. */
const MAX_SEGMENTS = 4096

/** Continuous speech of the far end, on the call's sample clock. */
export interface VoiceSegment {
  readonly startMs: Ms
  /** Null while it lasts. */
  readonly endMs: Ms | null
}

/** Voice activity of the far end. Data tones, which simulated voices send also in pauses, are filtered out first. */
export class FarEndVoice {
  readonly #filter = toneBandFilter()
  readonly #activity = new VoiceActivity()
  readonly #speech = new Int16Array(BLOCK)
  /** Position after the newest sample, null before the first; `#first`: position of the first sample. */
  #position: Samples | null = null
  #first: Samples = 0
  /** Start of the newest talk; `#until`: end of its last speech, null before any speech. */
  #from: Samples = 0
  #until: Samples | null = null
  #pauses = 0
  #segments: VoiceSegment[] = []

  /** `atSample`: position of the first of `audio` on the sample clock. */
  hear(audio: Int16Array, atSample: Samples): void {
    if (this.#position === null) this.#first = atSample
    if (this.#position !== atSample) this.#filter.reset()
    for (let from = 0; from < audio.length; from += BLOCK) {
      const count = Math.min(BLOCK, audio.length - from)
      this.#filter.filter(audio, from, count, this.#speech, 0)
      this.#activity.push(atSample + from - this.#filter.delay, this.#speech, 0, count)
      for (let edge = this.#activity.take(); edge !== null; edge = this.#activity.take()) this.#onEdge(edge)
    }
    this.#position = atSample + audio.length
  }

  get speaking(): boolean {
    return this.#activity.speaking
  }

  /** Number of ends of speech so far. */
  get pauses(): number {
    return this.#pauses
  }

  /** Length of the current silence; 0 during speech and before the first audio. */
  get quiet(): Samples {
    if (this.speaking || this.#position === null) return 0
    return this.#position - (this.#until ?? this.#first)
  }

  /** Length of the current talk, short pauses included; 0 in silence. */
  get talking(): Samples {
    if (this.speaking) return this.#position! - this.#from
    return this.#until === null || this.quiet > PAUSE_INSIDE ? 0 : this.#until - this.#from
  }

  /** Start of the newest talk; 0 before any. */
  get talkStartMs(): Ms {
    return samplesToMs(this.#from, NARROWBAND)
  }

  /** End of the newest speech, which is the newest sample during speech; null before any. */
  get lastSpeechEndMs(): Ms | null {
    const end = this.speaking ? this.#position : this.#until
    return end === null ? null : samplesToMs(end, NARROWBAND)
  }

  /** Segments between pauses of 200 ms and more, oldest first; at least the newest 2,048. */
  get segments(): readonly VoiceSegment[] {
    return this.#segments
  }

  #onEdge(edge: 'voice-start' | 'voice-end'): void {
    const at = this.#activity.position
    const ms = samplesToMs(at, NARROWBAND)
    if (edge === 'voice-end') {
      this.#until = at
      this.#pauses++
      const last = this.#segments.pop()
      if (last !== undefined) this.#segments.push({ startMs: last.startMs, endMs: ms })
      return
    }
    if (this.#until === null || at - this.#until > PAUSE_INSIDE) this.#from = at
    if (this.#segments.length >= MAX_SEGMENTS) this.#segments = this.#segments.slice(MAX_SEGMENTS / 2)
    this.#segments.push({ startMs: ms, endMs: null })
  }
}
