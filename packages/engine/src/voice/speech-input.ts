import { type DialogueInput, SpeechProsody, type SpokenWord } from '@parley/dialogue'
import {
  type AudioFormat,
  type Ms,
  msToSamples,
  NARROWBAND,
  ParleyError,
  type Samples,
  samplesToMs,
  type Time,
} from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import { FormatBorder, type VoiceDetection, type VoiceEdge } from '@parley/media'
import type { HeardWord, SpeechEvent, SpeechStream, SpeechToText } from '@parley/providers'
import { HeardHistory } from '../heard-history.ts'
import type { CallClock } from './call-clock.ts'

/** What is read at once. */
const BLOCK_MS: Ms = 40
/** Quiet that ends a stretch of speech; how long a turn waits after it is the turn machine's business. */
const HANGOVER_MS = 80
/** Of what a lost recogniser had not made final, so much is told to its successor. */
const REPLAY_MS: Ms = 5000
/** A recogniser that is lost again so soon is not opened again. */
const TRUST_AFTER_MS: Ms = 30_000
/** So much voice of which a recogniser says nothing at all, also after it had time for it: it has stalled, or it hears music. */
const UNNOTICED_VOICE_MS: Ms = 1000
const NOTICED_WITHIN_MS: Ms = 2000
/** Bits of voice further apart have nothing to do with each other. */
const UNNOTICED_GAP_MS: Ms = 30_000
/** Nobody speaks for so long without a pause: it is music, or a room. */
const MUSIC_MS: Ms = 6000
/** Stalls without a word between them, after each of which it was opened again; with one more the call is deaf. */
const MOST_STALLS = 2

export interface SpeechInputOptions {
  readonly leg: Pick<CallLeg, 'format' | 'readHeard' | 'heardPosition' | 'detectVoice' | 'nextVoiceEdge'>
  readonly recogniser: SpeechToText
  readonly speechBand: VoiceDetection['band'] | undefined
  readonly language: string
  readonly keywords: readonly string[]
  readonly clock: CallClock
  readonly time: Time
  readonly onHeard: (input: DialogueInput) => void
  /** The recogniser failed; `isDeaf`: for good. Otherwise it is connected again, and hears what it has missed. */
  readonly onTrouble: (error: ParleyError, isDeaf: boolean) => void
}

/** Hears the caller: audio from the leg to the recogniser, and the edges of voice that the media thread found in it. */
export class SpeechInput {
  readonly #options: SpeechInputOptions
  #stream: SpeechStream
  readonly #prosody = new SpeechProsody()
  readonly #audio: Int16Array
  /** What the recogniser takes, and the way to it. */
  readonly #taken: AudioFormat
  readonly #toRecogniser: FormatBorder
  /** Prosody is measured at 8 kHz. */
  readonly #toProsody: FormatBorder
  /** In the recogniser's format. */
  readonly #recent: HeardHistory
  #next: Samples = -1
  /** Everything before it was understood. */
  #finalUntil: Samples = 0
  #reopenedAt: Ms = Number.NEGATIVE_INFINITY
  /** Somebody speaks. */
  #voiced = false
  /** Voice since the recogniser last noticed any. */
  #unnoticed: Samples = 0
  #voiceSince: Samples = 0
  #voiceAt: Samples = 0
  /** Since a word was understood. */
  #stalls = 0
  /** Where that was too much. */
  #unnoticedAt: Samples | null = null
  #closed = false

  /** Throws what the recogniser's `open` throws. */
  constructor(options: SpeechInputOptions) {
    this.#options = options
    const { leg, speechBand } = options
    this.#audio = new Int16Array(msToSamples(BLOCK_MS, leg.format))
    this.#taken = formatTaken(options.recogniser, leg.format)
    this.#toRecogniser = new FormatBorder(leg.format, this.#taken)
    this.#toProsody = new FormatBorder(leg.format, NARROWBAND)
    this.#recent = new HeardHistory(REPLAY_MS, this.#taken)
    leg.detectVoice({ hangoverMs: HANGOVER_MS, ...(speechBand && { band: speechBand }) })
    this.#stream = this.#open()
  }

  /** Hears what has come since the last time. */
  drain(): void {
    const { leg, clock, time } = this.#options
    const block = this.#audio.length
    for (let count = block; count === block && !this.#closed; ) {
      count = leg.readHeard(this.#audio)
      if (count === 0) return
      // Known only now: a reader that came late was moved ahead.
      const from = leg.heardPosition() - count
      clock.observe(time.now(), from + count)
      this.#next = from + count
      this.#hear(from, count)
    }
  }

  /** Asks the recogniser for what it holds back. */
  finalize(): void {
    if (!this.#closed) this.#stream.finalize()
  }

  close(): void {
    this.#closed = true
    this.#stream.close()
  }

  #open(): SpeechStream {
    const { recogniser, language, keywords } = this.#options
    const stream = recogniser.open({ language, keywords, format: this.#taken })
    stream.onEvent(event => this.#onSpeech(event))
    return stream
  }

  #onLost(error: ParleyError): void {
    const { time, onTrouble } = this.#options
    const isDeaf = time.now() - this.#reopenedAt < TRUST_AFTER_MS || !this.#reopen()
    onTrouble(error, isDeaf)
  }

  /** False: it could not be opened. */
  #reopen(): boolean {
    this.#reopenedAt = this.#options.time.now()
    this.#stream.close()
    try {
      this.#stream = this.#open()
    } catch (error) {
      if (error instanceof ParleyError) return false
      throw error
    }
    const missed = this.#recent.newest(this.#ms(Math.max(0, this.#next - this.#finalUntil)))
    const written = Math.floor(this.#next / this.#toRecogniser.ratio)
    if (missed.length > 0) this.#stream.write(missed, written - missed.length)
    return true
  }

  #hear(position: Samples, count: Samples): void {
    const { leg } = this.#options
    const prosody = this.#toProsody
    prosody.push(position, this.#audio, count)
    this.#prosody.push(prosody.position, prosody.samples, 0, prosody.count)
    for (let edge = leg.nextVoiceEdge(); edge !== null; edge = leg.nextVoiceEdge()) this.#onEdge(edge)
    const taken = this.#toRecogniser
    taken.push(position, this.#audio, count)
    const heard = taken.samples.subarray(0, taken.count)
    this.#recent.write(heard)
    this.#stream.write(heard, taken.position)
    if (this.#voiced) this.#heardVoice(count)
    if (this.#unnoticedAt !== null && this.#ms(this.#next - this.#unnoticedAt) >= NOTICED_WITHIN_MS) this.#onStalled()
  }

  #heardVoice(count: Samples): void {
    if (this.#ms(this.#next - this.#voiceAt) > UNNOTICED_GAP_MS) this.#noticed()
    this.#voiceAt = this.#next
    this.#unnoticed += count
    if (this.#ms(this.#unnoticed) >= UNNOTICED_VOICE_MS) this.#unnoticedAt ??= this.#next
  }

  #noticed(): void {
    this.#unnoticed = 0
    this.#unnoticedAt = null
  }

  /**
   * It may be music that it rightly says nothing of: then it is opened again now and then, and the call goes on. Somebody
   * who speaks and pauses is not heard: it is opened again at once, and after some times in vain the call is deaf.
   */
  #onStalled(): void {
    const { time, onTrouble } = this.#options
    this.#noticed()
    const isMusic = this.#voiced && this.#ms(this.#next - this.#voiceSince) >= MUSIC_MS
    if (isMusic && time.now() - this.#reopenedAt < TRUST_AFTER_MS) return
    if (!isMusic) this.#stalls++
    const error = new ParleyError('recogniser_failed', 'the recogniser says nothing although somebody speaks')
    onTrouble(error, this.#stalls > MOST_STALLS || !this.#reopen())
  }

  #onEdge({ type, atSample: position }: VoiceEdge): void {
    const { clock, onHeard } = this.#options
    this.#voiced = type === 'voice-start'
    if (this.#voiced) {
      this.#voiceSince = position
      this.#prosody.voiceStarted(Math.floor(position / this.#toProsody.ratio))
      return onHeard({ type: 'voice-started', startedAt: clock.timeOf(position) })
    }
    const prosody = this.#prosody.voiceStopped(Math.floor(position / this.#toProsody.ratio))
    onHeard({ type: 'voice-stopped', stoppedAt: clock.timeOf(position), ...(prosody && { prosody }) })
  }

  #onSpeech(event: SpeechEvent): void {
    if (this.#closed) return
    // What an adapter says for a service that says nothing is no sign of life.
    if (event.type !== 'error' && (event.type !== 'final' || event.text !== '')) this.#noticed()
    if ('text' in event && event.text !== '') this.#stalls = 0
    const { onHeard, clock } = this.#options
    switch (event.type) {
      case 'speech-started':
        return
      case 'partial':
        return onHeard({ type: 'partial', text: event.text, words: this.#words(event.words) })
      case 'final':
        this.#finalUntil = Math.max(this.#finalUntil, this.#position(event.words.at(-1)?.endSample ?? 0))
        return onHeard({
          type: 'final',
          text: event.text,
          words: this.#words(event.words),
          fromFinalize: event.fromFinalize,
        })
      case 'unintelligible':
        return onHeard({
          type: 'unintelligible',
          startMs: clock.timeOf(this.#position(event.startSample)),
          endMs: clock.timeOf(this.#position(event.endSample)),
        })
      case 'end-of-turn':
        return onHeard({ type: 'end-of-turn', confidence: event.confidence, eager: event.eager })
      case 'turn-resumed':
        return onHeard({ type: 'turn-resumed' })
      case 'error':
        // Of what may pass the stream repairs itself.
        if (event.error.retryable) this.#options.onTrouble(event.error, false)
        else this.#onLost(event.error)
        return
    }
  }

  /** Of the recogniser's clock, on that of the call. */
  #position(sample: Samples): Samples {
    return sample * this.#toRecogniser.ratio
  }

  #ms(samples: Samples): Ms {
    return samplesToMs(samples, this.#options.leg.format)
  }

  #words(words: readonly HeardWord[]): SpokenWord[] {
    const { clock } = this.#options
    const at = (sample: Samples): Ms => clock.timeOf(this.#position(sample))
    return words.map(word => ({ text: word.text, startMs: at(word.startSample), endMs: at(word.endSample) }))
  }
}

/** The best that the recogniser takes of what the call has: of the highest rate up to the call's. */
function formatTaken({ formats = [NARROWBAND] }: SpeechToText, call: AudioFormat): AudioFormat {
  const [best] = formats
    .filter(({ sampleRateHz, channels }) => channels === 1 && sampleRateHz <= call.sampleRateHz)
    .sort((a, b) => b.sampleRateHz - a.sampleRateHz)
  return best ?? NARROWBAND
}
