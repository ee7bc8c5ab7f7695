import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'

/** Pauses up to this length, between words and sentences, count as talk. */
const PAUSE_INSIDE: Samples = msToSamples(500, NARROWBAND)
/** About an hour of speech; beyond that the oldest segments are dropped. */
const MAX_SEGMENTS = 4096

/** Continuous speech of the far end, on the call's sample clock. */
export interface VoiceSegment {
  readonly startMs: Ms
  /** Null while it lasts. */
  readonly endMs: Ms | null
}

/** Voice activity of the far end, which the leg finds while it receives the audio. Positions are on a clock of 8 kHz. */
export class FarEndVoice {
  /** Position after the newest sample, null before the first; `#first`: position of the first sample. */
  #position: Samples | null = null
  #first: Samples = 0
  #isSpeaking = false
  /** Start of the newest talk; `#until`: end of its last speech, null before any speech. */
  #from: Samples = 0
  #until: Samples | null = null
  #pauses = 0
  #segments: VoiceSegment[] = []

  /** Audio was read, after its edges were noted: `atSample` is the position of its first sample, `count` its length. */
  heard(atSample: Samples, count: Samples): void {
    if (this.#position === null) this.#first = atSample
    this.#position = atSample + count
  }

  get speaking(): boolean {
    return this.#isSpeaking
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
    if (this.speaking) return (this.#position ?? this.#from) - this.#from
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

  /** Voice began or ended, as was found in audio that `heard` reports next. */
  noteEdge(edge: 'voice-start' | 'voice-end', at: Samples): void {
    this.#isSpeaking = edge === 'voice-start'
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
