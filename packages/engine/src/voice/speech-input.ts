import { type DialogueInput, SpeechProsody, type SpokenWord } from '@parley/dialogue'
import type { Language } from '@parley/flow'
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
import { FormatConverter, type VoiceDetection, type VoiceEdge } from '@parley/media'
import type { HeardWord, SpeechEvent, SpeechStream, SpeechStreamOptions, SpeechToText } from '@parley/providers'
import { EngineError } from '../errors.ts'
import { HeardHistory } from '../heard-history.ts'
import type { CallClock } from './call-clock.ts'
import { serviceFormat } from './service-format.ts'
import { primaryTag } from './voice-agent.ts'

/** Largest amount of audio that is read at a time. */
const BLOCK_MS: Ms = 40
/** Silence that ends a segment of voice. The turn machine decides how long a turn waits after that. */
const HANGOVER_MS = 80
/** Audio without a final transcript that a reopened recogniser gets again, at most. */
const REPLAY_MS: Ms = 5000
/** A recogniser that fails again within this time is not reopened. */
const TRUST_AFTER_MS: Ms = 30_000
/** A recogniser that reports nothing for this much voice within the time below has stalled, or it hears music. */
const UNNOTICED_VOICE_MS: Ms = 800
const NOTICED_WITHIN_MS: Ms = 2000
/** More time between two readings of the audio counts as this much for a recogniser: a thread that was held up could not read what it reports. */
const HELD_UP_MS: Ms = 250
/** After a longer gap, unnoticed voice is counted from zero. */
const UNNOTICED_GAP_MS: Ms = 30_000
/** Voice without a pause for this long is music or background noise. */
const MUSIC_MS: Ms = 5000
/** Number of consecutive stalls after which the recogniser is reopened; one more is fatal. */
const MAX_STALLS = 2
/** Voice in early media that lasts this long without a tone is speech, and transcribed from its start; ringing is not. */
const EARLY_SPEECH_MS: Ms = 600

export interface SpeechInputOptions {
  readonly leg: Pick<CallLeg, 'format' | 'readHeard' | 'heardPosition' | 'detectVoice' | 'nextVoiceEdge'>
  /** In order of preference, at least one: each replaces the one before it when that has failed for good. */
  readonly recognisers: readonly SpeechToText[]
  readonly speechBand: VoiceDetection['band'] | undefined
  readonly language: string
  /** Other languages that the caller may speak; default none. */
  readonly otherLanguages?: readonly Language[]
  /** The recogniser detected this language (BCP 47) in final words. */
  readonly onLanguage?: (language: string) => void
  readonly keywords: readonly string[]
  /** Default: the recogniser's usual mode and vocabulary. */
  readonly recognition?: Pick<SpeechStreamOptions, 'mode' | 'vocabulary'>
  readonly clock: CallClock
  readonly time: Time
  readonly onHeard: (input: DialogueInput) => void
  /** Heard audio at 8 kHz, before the voice and the words in it; `position` counts samples of 8 kHz. */
  readonly onAudio?: (position: Samples, audio: Int16Array, count: Samples) => void
  /** Whether a tone is audible in the audio that `onAudio` got last; it is asked during early media. */
  readonly isTone?: () => boolean
  /** The recogniser failed. `isFatal`: for good; otherwise it is connected again and gets the audio that it missed. */
  readonly onFailure: (error: ParleyError, isFatal: boolean) => void
}

/** Speech of the caller: passes audio from the leg to the recogniser, and voice edges of the media thread to the turn machine. */
export class SpeechInput {
  readonly #options: SpeechInputOptions
  #stream: SpeechStream
  readonly #prosody = new SpeechProsody()
  readonly #audio: Int16Array
  /** Prosody is measured at 8 kHz. */
  readonly #toProsody: FormatConverter
  /** Format that the recogniser takes, and the resampler to it: that of prosody where it takes 8 kHz. */
  readonly #recogniserFormat: AudioFormat
  readonly #toRecogniser: FormatConverter
  /** In the recogniser's format. */
  readonly #recent: HeardHistory
  #next: Samples = -1
  /** End of the last final transcript. */
  #finalUntil: Samples = 0
  #reopenedAt: Ms = Number.NEGATIVE_INFINITY
  /** Whether voice is detected now. */
  #voiced = false
  /** Voice since the recogniser last reported anything. */
  #unnoticed: Samples = 0
  #voiceSince: Samples = 0
  #voiceAt: Samples = 0
  /** Stalls since the last recognised word. */
  #stalls = 0
  /** Where and when (`#listenedMs`) unnoticed voice reached its limit; null: it has not. */
  #unnoticedAt: { readonly position: Samples; readonly listenedMs: Ms } | null = null
  /** Time in which the recogniser could report, and when it last grew. */
  #listenedMs: Ms = 0
  #drainedAt: Ms
  /** The last stall, until the reopened recogniser shows whether there were words in the audio that it gets again. */
  #suspected: { readonly error: ParleyError; readonly reopenedAt: Samples } | null = null
  /** The audio is early media: a recogniser that finds no words in it has not failed. */
  #isEarly = false
  #isTranscribing = true
  #closed = false
  /** Index of the recogniser that is used. */
  #current = 0
  #language: string
  /** The recogniser listens for all languages at once, as its reports show. */
  #detectsLanguages = false

  /** Throws what the recogniser's `open` throws. */
  constructor(options: SpeechInputOptions) {
    this.#options = options
    this.#language = options.language
    this.#drainedAt = options.time.now()
    const { leg, speechBand } = options
    this.#audio = new Int16Array(msToSamples(BLOCK_MS, leg.format))
    this.#recogniserFormat = commonFormat(options.recognisers, leg.format)
    this.#toProsody = new FormatConverter(leg.format, NARROWBAND)
    this.#toRecogniser =
      this.#recogniserFormat.sampleRateHz === NARROWBAND.sampleRateHz
        ? this.#toProsody
        : new FormatConverter(leg.format, this.#recogniserFormat)
    this.#recent = new HeardHistory(REPLAY_MS, this.#recogniserFormat)
    leg.detectVoice({ hangoverMs: HANGOVER_MS, ...(speechBand && { band: speechBand }) })
    this.#stream = this.#open()
  }

  /** Processes the audio received since the last call. */
  drain(): void {
    const { leg, clock, time } = this.#options
    const block = this.#audio.length
    this.#listen(time.now())
    for (let count = block; count === block && !this.#closed; ) {
      count = leg.readHeard(this.#audio)
      if (count === 0) return
      // The position is known only after reading: a late reader skips audio that was overwritten.
      const from = leg.heardPosition() - count
      clock.observe(time.now(), from + count)
      this.#next = from + count
      this.#hear(from, count)
    }
  }

  #listen(now: Ms): void {
    this.#listenedMs += Math.min(now - this.#drainedAt, HELD_UP_MS)
    this.#drainedAt = now
  }

  /** The audio is early media until `answered`: mostly ringing, which is transcribed only where that costs nothing. */
  listenEarly(): void {
    if (this.#isEarly) return
    this.#isEarly = true
    this.#isTranscribing = this.#options.recognisers.every(({ billsSilence }) => billsSilence === false)
  }

  answered(): void {
    this.#isEarly = false
    this.#isTranscribing = true
  }

  /** Asks the recogniser for a final transcript of what it has heard. */
  finalize(): void {
    if (!this.#closed) this.#stream.finalize()
  }

  /** From here on the caller speaks `language` (BCP 47). */
  setLanguage(language: string): void {
    if (this.#closed || language === this.#language) return
    this.#language = language
    if (this.#detectsLanguages) return
    const { recognisers } = this.#options
    const knows = recognisers.findIndex((one, index) => index >= this.#current && understands(one, language))
    if (knows < 0) return
    this.#current = knows
    const trustedFrom = this.#reopenedAt
    if (this.#reopen()) this.#reopenedAt = trustedFrom
    else if (!this.#openNext())
      this.#options.onFailure(
        new EngineError('recogniser_failed', `no recogniser could be opened for "${language}"`),
        true,
      )
  }

  close(): void {
    this.#closed = true
    this.#stream.close()
  }

  #open(): SpeechStream {
    const { recognisers, language: first, otherLanguages = [], keywords, recognition } = this.#options
    const format = this.#recogniserFormat
    const recogniser = recognisers[this.#current]!
    const language = this.#language
    const others = [first, ...otherLanguages].filter(
      other => primaryTag(other) !== primaryTag(language) && understands(recogniser, other),
    )
    this.#detectsLanguages = false
    const stream = recogniser.open({
      language,
      ...(others.length > 0 && { otherLanguages: others.map(primaryTag) }),
      keywords,
      format,
      tellsVoice: true,
      ...recognition,
    })
    stream.onEvent(event => this.#onSpeech(event))
    if (this.#voiced) this.#tellVoice(stream, 'voice-start', this.#voiceSince)
    return stream
  }

  #onLost(error: ParleyError): void {
    const { time, onFailure } = this.#options
    const isTrusted = time.now() - this.#reopenedAt >= TRUST_AFTER_MS
    onFailure(error, !(isTrusted && this.#reopen()) && !this.#openNext())
  }

  /** Replaces the recogniser by the next one; returns whether there was one that could be opened. */
  #openNext(): boolean {
    while (this.#current + 1 < this.#options.recognisers.length) {
      this.#current++
      this.#stalls = 0
      if (this.#reopen()) return true
    }
    return false
  }

  /** Returns whether the recogniser could be opened. */
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
    this.#options.onAudio?.(prosody.position, prosody.samples, prosody.count)
    for (let edge = leg.nextVoiceEdge(); edge !== null; edge = leg.nextVoiceEdge()) this.#onEdge(edge)
    const taken = this.#toRecogniser
    if (taken !== prosody) taken.push(position, this.#audio, count)
    const heard = taken.samples.subarray(0, taken.count)
    this.#recent.write(heard)
    if (this.#isTranscribing) this.#stream.write(heard, taken.position)
    else this.#judgeEarly(taken.position + taken.count)
    if (this.#voiced && !this.#isEarly) this.#heardVoice(count)
    if (this.#isUnnoticed()) this.#onStalled()
  }

  /** Early media is transcribed from the first speech on. `written`: its end on the recogniser's clock. */
  #judgeEarly(written: Samples): void {
    if (this.#options.isTone?.()) this.#voiceSince = this.#next
    const voice = this.#ms(this.#next - this.#voiceSince)
    if (!this.#voiced || voice < EARLY_SPEECH_MS) return
    this.#isTranscribing = true
    const speech = this.#recent.newest(voice)
    this.#stream.write(speech, written - speech.length)
  }

  #heardVoice(count: Samples): void {
    if (this.#ms(this.#next - this.#voiceAt) > UNNOTICED_GAP_MS) this.#noticed()
    this.#voiceAt = this.#next
    this.#unnoticed += count
    if (this.#ms(this.#unnoticed) >= UNNOTICED_VOICE_MS)
      this.#unnoticedAt ??= { position: this.#next, listenedMs: this.#listenedMs }
  }

  #isUnnoticed(): boolean {
    const since = this.#unnoticedAt
    if (since === null) return false
    const heard = this.#ms(this.#next - since.position)
    return heard >= NOTICED_WITHIN_MS && this.#listenedMs - since.listenedMs >= NOTICED_WITHIN_MS - BLOCK_MS
  }

  #noticed(): void {
    this.#unnoticed = 0
    this.#unnoticedAt = null
  }

  /**
   * Voice without a transcript. Long voice without a pause may be music, for which silence is right: the recogniser is
   * reopened once in a while and the call goes on. Voice with pauses is speech: the recogniser is reopened at once, and
   * repeated stalls are fatal. A stall is reported as a failure if it is fatal or the reopened recogniser finds words in the
   * same audio: noise and music make no recogniser fail.
   */
  #onStalled(): void {
    const { time, onFailure } = this.#options
    this.#noticed()
    const isMusic = this.#voiced && this.#ms(this.#next - this.#voiceSince) >= MUSIC_MS
    if (isMusic && time.now() - this.#reopenedAt < TRUST_AFTER_MS) return
    if (!isMusic) this.#stalls++
    const error = new EngineError(
      'recogniser_failed',
      'the recogniser delivered no transcript although the caller speaks',
    )
    this.#suspected = { error, reopenedAt: this.#next }
    if (this.#stalls <= MAX_STALLS && this.#reopen()) return
    onFailure(error, !this.#openNext())
  }

  /** Reports the last stall if the recognised words begin in audio that was heard before it. */
  #judgeStall(words: readonly HeardWord[]): void {
    const [first] = words
    if (this.#suspected === null || first === undefined) return
    const { error, reopenedAt } = this.#suspected
    this.#suspected = null
    if (this.#position(first.startSample) < reopenedAt) this.#options.onFailure(error, false)
  }

  #onEdge({ type, atSample: position }: VoiceEdge): void {
    const { clock, onHeard } = this.#options
    this.#voiced = type === 'voice-start'
    this.#tellVoice(this.#stream, type, position)
    if (this.#voiced) {
      this.#voiceSince = position
      this.#prosody.voiceStarted(Math.floor(position / this.#toProsody.ratio))
      return onHeard({ type: 'voice-started', startedAt: clock.timeOf(position) })
    }
    const prosody = this.#prosody.voiceStopped(Math.floor(position / this.#toProsody.ratio))
    onHeard({ type: 'voice-stopped', stoppedAt: clock.timeOf(position), ...(prosody && { prosody }) })
  }

  #tellVoice(stream: SpeechStream, type: VoiceEdge['type'], position: Samples): void {
    stream.voice?.(type, Math.floor(position / this.#toRecogniser.ratio))
  }

  #onSpeech(event: SpeechEvent): void {
    if (this.#closed) return
    // An empty final transcript may come from the adapter, not from the service, and does not prove that the service works.
    if (event.type !== 'error' && (event.type !== 'final' || event.text !== '')) this.#noticed()
    if ('text' in event && event.text !== '') {
      this.#stalls = 0
      this.#judgeStall(event.words)
    }
    const { onHeard, clock } = this.#options
    switch (event.type) {
      case 'speech-started':
        return
      case 'partial':
        return onHeard({ type: 'partial', text: event.text, words: this.#words(event.words) })
      case 'final':
        this.#finalUntil = Math.max(this.#finalUntil, this.#position(event.words.at(-1)?.endSample ?? 0))
        if (event.language !== undefined) {
          this.#detectsLanguages = true
          this.#options.onLanguage?.(event.language)
        }
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
        // The stream recovers from retryable errors by itself.
        if (event.error.retryable) this.#options.onFailure(event.error, false)
        else this.#onLost(event.error)
        return
    }
  }

  /** Converts a position on the recogniser's clock to the call's clock. */
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

function understands({ languages }: SpeechToText, language: string): boolean {
  return languages.includes(primaryTag(language))
}

/** The format that all recognisers take, since a fallback gets the audio that the one before it has missed. */
function commonFormat(recognisers: readonly SpeechToText[], call: AudioFormat): AudioFormat {
  const [first, ...others] = recognisers.map(recogniser => serviceFormat(recogniser, call))
  return others.every(({ sampleRateHz }) => sampleRateHz === first!.sampleRateHz) ? first! : NARROWBAND
}
