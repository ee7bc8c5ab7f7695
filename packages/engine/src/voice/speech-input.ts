import { type DialogueInput, SpeechProsody, type SpokenWord } from '@parley/dialogue'
import { type Ms, msToSamples, ParleyError, type Samples, samplesToMs, type Time } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import type { VoiceDetection, VoiceEdge } from '@parley/media'
import type { HeardWord, SpeechEvent, SpeechStream, SpeechToText } from '@parley/providers'
import { HeardHistory } from '../heard-history.ts'
import type { CallClock } from './call-clock.ts'

/** 40 ms; what is read at once. */
const BLOCK: Samples = 320
/** Quiet that ends a stretch of speech; how long a turn waits after it is the turn machine's business. */
const HANGOVER_MS = 80
/** Of what a lost recogniser had not made final, so much is told to its successor. */
const REPLAY_MS: Ms = 5000
/** A recogniser that is lost again so soon is not opened again. */
const TRUST_AFTER_MS: Ms = 30_000
/** So much voice of which a recogniser says nothing at all, also after it had time for it: it has stalled, or it hears music. */
const UNNOTICED_VOICE: Samples = msToSamples(1000)
const NOTICED_WITHIN: Samples = msToSamples(2000)
/** Bits of voice further apart have nothing to do with each other. */
const UNNOTICED_GAP: Samples = msToSamples(30_000)
/** Nobody speaks for so long without a pause: it is music, or a room. */
const MUSIC: Samples = msToSamples(6000)
/** Stalls without a word between them, after each of which it was opened again; with one more the call is deaf. */
const MOST_STALLS = 2

export interface SpeechInputOptions {
  readonly leg: Pick<CallLeg, 'readHeard' | 'heardPosition' | 'detectVoice' | 'nextVoiceEdge'>
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
  readonly #audio = new Int16Array(BLOCK)
  readonly #recent = new HeardHistory(REPLAY_MS)
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
    leg.detectVoice({ hangoverMs: HANGOVER_MS, ...(speechBand && { band: speechBand }) })
    this.#stream = this.#open()
  }

  /** Hears what has come since the last time. */
  drain(): void {
    const { leg, clock, time } = this.#options
    for (let count = BLOCK; count === BLOCK && !this.#closed; ) {
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
    const stream = recogniser.open({ language, keywords, sampleRate: 8000 })
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
    const missed = this.#recent.newest(samplesToMs(Math.max(0, this.#next - this.#finalUntil)))
    if (missed.length > 0) this.#stream.write(missed, this.#next - missed.length)
    return true
  }

  #hear(position: Samples, count: Samples): void {
    const { leg } = this.#options
    this.#prosody.push(position, this.#audio, 0, count)
    for (let edge = leg.nextVoiceEdge(); edge !== null; edge = leg.nextVoiceEdge()) this.#onEdge(edge)
    const heard = this.#audio.subarray(0, count)
    this.#recent.write(heard)
    this.#stream.write(heard, position)
    if (this.#voiced) this.#heardVoice(count)
    if (this.#unnoticedAt !== null && this.#next - this.#unnoticedAt >= NOTICED_WITHIN) this.#onStalled()
  }

  #heardVoice(count: Samples): void {
    if (this.#next - this.#voiceAt > UNNOTICED_GAP) this.#noticed()
    this.#voiceAt = this.#next
    this.#unnoticed += count
    if (this.#unnoticed >= UNNOTICED_VOICE) this.#unnoticedAt ??= this.#next
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
    const isMusic = this.#voiced && this.#next - this.#voiceSince >= MUSIC
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
      this.#prosody.voiceStarted(position)
      return onHeard({ type: 'voice-started', startedAt: clock.timeOf(position) })
    }
    const prosody = this.#prosody.voiceStopped(position)
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
        this.#finalUntil = Math.max(this.#finalUntil, event.words.at(-1)?.endSample ?? 0)
        return onHeard({
          type: 'final',
          text: event.text,
          words: this.#words(event.words),
          fromFinalize: event.fromFinalize,
        })
      case 'unintelligible':
        return onHeard({
          type: 'unintelligible',
          startMs: clock.timeOf(event.startSample),
          endMs: clock.timeOf(event.endSample),
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

  #words(words: readonly HeardWord[]): SpokenWord[] {
    const { clock } = this.#options
    const at = (sample: Samples): Ms => clock.timeOf(sample)
    return words.map(word => ({ text: word.text, startMs: at(word.startSample), endMs: at(word.endSample) }))
  }
}
