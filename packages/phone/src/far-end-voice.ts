import { msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { VoiceActivity } from '@parley/media'
import { toneBandFilter } from '@parley/providers'

/** Pauses up to here are inside of a talk: between words, between sentences. */
const PAUSE_INSIDE: Samples = msToSamples(500, NARROWBAND)
const BLOCK: Samples = 160

/** When the far end talks, judged on its speech alone: tones that carry words go on in its pauses. */
export class FarEndVoice {
  readonly #filter = toneBandFilter()
  readonly #activity = new VoiceActivity()
  readonly #speech = new Int16Array(BLOCK)
  /** Position behind the newest sample, and of the first one; null before that. */
  #position: Samples | null = null
  #first: Samples = 0
  /** The newest talk: `#until` is the end of the last speech in it. */
  #from: Samples = 0
  #until: Samples | null = null
  #pauses = 0

  /** `atSample`: where the first of `audio` lies on the sample clock. */
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

  /** How often it has fallen silent. */
  get pauses(): number {
    return this.#pauses
  }

  /** Silence up to now; 0 while it speaks, and before anything was heard. */
  get quiet(): Samples {
    if (this.speaking || this.#position === null) return 0
    return this.#position - (this.#until ?? this.#first)
  }

  /** How long it has been talking, short pauses included; 0 when it does not. */
  get talking(): Samples {
    if (this.speaking) return this.#position! - this.#from
    return this.#until === null || this.quiet > PAUSE_INSIDE ? 0 : this.#until - this.#from
  }

  #onEdge(edge: 'speech-start' | 'speech-end'): void {
    const at = this.#activity.position
    if (edge === 'speech-end') {
      this.#until = at
      this.#pauses++
    } else if (this.#until === null || at - this.#until > PAUSE_INSIDE) this.#from = at
  }
}
