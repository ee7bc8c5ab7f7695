import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { VoiceActivity } from '@parley/media'
import type { HeardWord, SpeechEvent, SpeechStream, SpeechStreamOptions } from '../speech-to-text/speech-to-text.ts'
import { Demodulator } from './demodulator.ts'
import { toneBandFilter } from './tone-band-filter.ts'
import { WordJoiner } from './word-joiner.ts'

/** 20 ms. */
const BLOCK: Samples = 160
const SILENCE = new Int16Array(BLOCK)
/** A gap up to this length counts as silence; a longer one resets the demodulator. */
const MAX_GAP: Samples = msToSamples(3000, NARROWBAND)
/** Shorter speech, such as a cough, is not reported as unintelligible. */
const MIN_SPEECH: Samples = msToSamples(250, NARROWBAND)
/** Beyond this number of words without a pause they become final. */
const MAX_WORDS = 1000
const SPEECH_END_AFTER_MS = 100
/** Words become final after this time, even if noise is still detected as speech. */
const MAX_WAIT: Samples = msToSamples(3000, NARROWBAND)

/** The stream of one call: words from the demodulator; speech from its writer, or from voice activity detection on the audio without the tones. */
export class TonesStream implements SpeechStream {
  readonly #endpointing: Samples
  readonly #onClose: () => void
  readonly #onSent: (audioMs: Ms) => void
  readonly #demodulator = new Demodulator((piece, startSample, endSample) =>
    this.#joiner.push(piece, startSample, endSample),
  )
  readonly #joiner = new WordJoiner(word => this.#onWord(word))
  /** Null: the writer tells where voice begins and ends. */
  readonly #detection: VoiceBelowTones | null
  #isVoiced = false
  #listener: (event: SpeechEvent) => void = () => {}
  #closed = false
  /** Position of the next sample; null before the first. */
  #position: Samples | null = null
  #words: HeardWord[] = []
  /** Start, end and amount of the speech that is not final yet. */
  #speechStart: Samples | null = null
  #speechSince: Samples = 0
  #speechEnd: Samples = 0
  #spoken: Samples = 0

  constructor(
    endpointing: Samples,
    onClose: () => void,
    { onSent = () => {}, tellsVoice = false }: Pick<SpeechStreamOptions, 'onSent' | 'tellsVoice'>,
  ) {
    this.#endpointing = endpointing
    this.#onClose = onClose
    this.#onSent = onSent
    this.#detection = tellsVoice ? null : new VoiceBelowTones((type, at) => this.#onEdge(type, at))
  }

  onEvent(listener: (event: SpeechEvent) => void): void {
    this.#listener = listener
  }

  write(samples: Int16Array, atSample: Samples): void {
    if (this.#closed) return
    const position = this.#position ?? this.#restart(atSample)
    if (atSample > position) this.#bridge(atSample - position, atSample)
    for (let from = Math.max(0, position - atSample); from < samples.length; from += BLOCK) {
      this.#process(samples, from, Math.min(BLOCK, samples.length - from))
    }
  }

  voice(type: 'voice-start' | 'voice-end', atSample: Samples): void {
    if (!this.#closed && this.#detection === null) this.#onEdge(type, atSample)
  }

  finalize(): void {
    if (this.#closed) return
    this.#endSegment(true)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#listener = () => {}
    this.#onClose()
  }

  #restart(position: Samples): Samples {
    this.#demodulator.restart(position)
    this.#detection?.restart()
    this.#position = position
    return position
  }

  #bridge(gap: Samples, atSample: Samples): void {
    const heard = Math.min(gap, MAX_GAP)
    for (let left = heard; left > 0; left -= BLOCK) this.#process(SILENCE, 0, Math.min(BLOCK, left))
    if (gap > heard) this.#restart(atSample)
  }

  #process(samples: Int16Array, offset: number, count: Samples): void {
    const position = this.#position!
    this.#position = position + count
    this.#onSent(samplesToMs(count, NARROWBAND))
    this.#detection?.hear(position, samples, offset, count)
    this.#demodulator.push(samples, offset, count)
    if (this.#segmentIsOver()) this.#endSegment(false)
  }

  #onEdge(edge: 'voice-start' | 'voice-end', at: Samples): void {
    this.#isVoiced = edge === 'voice-start'
    if (edge === 'voice-end') {
      // Speech that continued after a final result has no new start.
      this.#speechStart ??= this.#speechSince
      this.#spoken += Math.max(0, at - this.#speechSince)
      this.#speechEnd = Math.max(this.#speechEnd, at)
      return
    }
    this.#speechSince = at
    this.#startSpeech(at)
  }

  #startSpeech(at: Samples): void {
    if (this.#speechStart !== null) return
    this.#speechStart = at
    this.#listener({ type: 'speech-started', atSample: at })
  }

  #onWord(word: HeardWord): void {
    this.#startSpeech(word.startSample)
    this.#speechEnd = Math.max(this.#speechEnd, word.endSample)
    this.#words = [...this.#words, word]
    this.#listener({ type: 'partial', text: textOf(this.#words), words: this.#words })
    if (this.#words.length >= MAX_WORDS) this.#endSegment(false)
  }

  #segmentIsOver(): boolean {
    if (this.#speechStart === null || this.#demodulator.receiving) return false
    const lastWord = this.#words.at(-1)
    if (lastWord !== undefined && this.#position! - lastWord.endSample >= MAX_WAIT) return true
    return !this.#isVoiced && this.#position! - this.#speechEnd >= this.#endpointing
  }

  #endSegment(fromFinalize: boolean): void {
    const words = this.#words
    const start = this.#speechStart
    const position = this.#position ?? 0
    const running = this.#isVoiced ? Math.max(0, position - this.#speechSince) : 0
    const spoken = this.#spoken + running
    const end = this.#isVoiced ? position : this.#speechEnd
    this.#words = []
    this.#speechStart = null
    this.#spoken = 0
    this.#speechSince = position
    if (words.length === 0 && start !== null && spoken >= MIN_SPEECH && !this.#demodulator.receiving) {
      this.#listener({ type: 'unintelligible', startSample: start, endSample: end })
    }
    if (words.length > 0 || fromFinalize) this.#listener({ type: 'final', text: textOf(words), words, fromFinalize })
  }
}

/** Finds voice in the audio without the tones. */
class VoiceBelowTones {
  readonly #filter = toneBandFilter()
  readonly #activity = new VoiceActivity({ hangoverMs: SPEECH_END_AFTER_MS })
  readonly #speech = new Int16Array(BLOCK)
  readonly #onEdge: (edge: 'voice-start' | 'voice-end', at: Samples) => void

  constructor(onEdge: (edge: 'voice-start' | 'voice-end', at: Samples) => void) {
    this.#onEdge = onEdge
  }

  restart(): void {
    this.#filter.reset()
  }

  /** At most a block. */
  hear(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#filter.filter(samples, offset, count, this.#speech, 0)
    this.#activity.push(position - this.#filter.delay, this.#speech, 0, count)
    for (let edge = this.#activity.take(); edge !== null; edge = this.#activity.take())
      this.#onEdge(edge, this.#activity.position)
  }
}

function textOf(words: readonly HeardWord[]): string {
  return words.map(({ text }) => text).join(' ')
}
