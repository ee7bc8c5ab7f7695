import {
  type AudioFormat,
  type Ms,
  msToSamples,
  NARROWBAND,
  type Samples,
  samplesToMs,
  type Time,
  type Timer,
} from '@parley/kernel'
import { ResamplingStream, VoiceActivity } from '@parley/media'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { SpeechEvent, SpeechStream } from '../speech-to-text/speech-to-text.ts'
import { type Phrase, type Transcription, wordsOf } from './transcription.ts'

/** Sends one phrase; rejects with a `ProviderFailure`, or with anything when `signal` aborts. */
type Transcribe = (phrase: Phrase, signal: AbortSignal) => Promise<Transcription>

interface PhraseStreamOptions {
  readonly transcribe: Transcribe
  /** Primary tag; null: the server detects the language of each phrase. */
  readonly language: string | null
  readonly keywords: readonly string[]
  readonly format: AudioFormat
  /** Silence that ends a phrase, ms. */
  readonly endpointingMs: Ms
  /** Words so far are requested while a phrase lasts. Default true; false: "speech-started" is repeated instead. */
  readonly hasPartials?: boolean
  readonly time: Time
  readonly onSent: (audioMs: Ms) => void
  readonly onClose: () => void
}

/** A phrase that waits for its words. */
interface Job {
  readonly samples: Int16Array
  readonly from: Samples
  readonly voiceFrom: Samples
  readonly voiceTo: Samples
  /** Number of finalize requests that it answers. */
  finalizes: number
}

const BLOCK_MS: Ms = 20
/** Audio before the detected begin of speech that is sent with it. */
const LEAD_MS: Ms = 240
/** Audio before speech that is kept: the detection reports an onset late. */
const KEPT_MS: Ms = 800
/** A longer phrase is cut. */
const MAX_PHRASE_MS: Ms = 25_000
/** A gap in the call's audio counts as silence, up to this length. */
const MAX_GAP_MS: Ms = 3000
/** Words so far are requested after this much more speech, one request at a time. */
const PARTIAL_MS: Ms = 800
/** `finalize` is answered after this time, whatever the server does. */
const FINALIZE_MS: Ms = 3000
/** Shorter speech, such as a cough, is not reported as unintelligible. */
const MIN_SPEECH_MS: Ms = 250
/** Quiet after which the voice detection reports the end of speech. */
const HANGOVER_MS: Ms = 100

/**
 * The stream of one call to a server that recognises whole recordings: voice activity cuts the audio into phrases, each is
 * sent when it has ended, and the words so far are requested while it lasts. A failed request is reported as a retryable "error" and
 * repeated once; the second failure ends the stream.
 */
export class PhraseStream implements SpeechStream {
  readonly #options: PhraseStreamOptions
  /** Samples of the call's audio for each sample that the voice detection analyses. */
  readonly #scale: number
  readonly #resampling: ResamplingStream | null
  readonly #voice = new VoiceActivity({ hangoverMs: HANGOVER_MS })
  readonly #abort = new AbortController()
  readonly #jobs: Job[] = []
  #listener: (event: SpeechEvent) => void = () => {}
  #closed = false
  /** Position of the next sample; null before the first. */
  #position: Samples | null = null
  /** Position of the next sample of the voice detection. */
  #analysed: Samples = 0
  #audio: Int16Array
  #length = 0
  /** Begin of the speech that is not sent as a phrase yet. */
  #voiceFrom: Samples | null = null
  #voiceTo: Samples = 0
  #partialAt: Samples = 0
  #partial: AbortController | null = null
  #isRunning = false
  #overdue: Timer | null = null

  constructor(options: PhraseStreamOptions) {
    const { sampleRateHz } = options.format
    this.#options = options
    this.#scale = sampleRateHz / NARROWBAND.sampleRateHz
    this.#resampling = this.#scale === 1 ? null : new ResamplingStream(sampleRateHz, NARROWBAND.sampleRateHz)
    this.#audio = new Int16Array(this.#samples(KEPT_MS + MAX_PHRASE_MS) + 2 * this.#samples(BLOCK_MS))
  }

  onEvent(listener: (event: SpeechEvent) => void): void {
    this.#listener = listener
  }

  write(samples: Int16Array, atSample: Samples): void {
    if (this.#closed) return
    const position = this.#position ?? this.#restart(atSample)
    if (atSample > position) this.#bridge(atSample - position, atSample)
    const block = this.#samples(BLOCK_MS)
    for (let at = Math.max(0, position - atSample); at < samples.length && !this.#closed; at += block)
      this.#process(samples.subarray(at, at + block))
  }

  finalize(): void {
    if (this.#closed) return
    if (this.#voiceFrom !== null) this.#endPhrase()
    const last = this.#jobs.at(-1)
    if (last === undefined) return this.#listener({ type: 'final', text: '', words: [], fromFinalize: true })
    last.finalizes++
    const { time } = this.#options
    this.#overdue ??= time.at(time.now() + FINALIZE_MS, () => this.#answerFinalizes())
  }

  /** Ends the stream with an error that is not retryable. */
  fail(error: ProviderFailure): void {
    if (this.#closed) return
    this.#answerFinalizes()
    const listener = this.#listener
    this.close()
    const dead = error.retryable
      ? new ProviderError(error.code, error.message, { retryable: false, cause: error })
      : error
    listener({ type: 'error', error: dead })
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#listener = () => {}
    this.#overdue?.cancel()
    this.#abort.abort()
    this.#partial?.abort()
    this.#options.onClose()
  }

  #samples(ms: Ms): Samples {
    return msToSamples(ms, this.#options.format)
  }

  #restart(position: Samples): Samples {
    this.#position = position
    this.#analysed = Math.round(position / this.#scale)
    this.#length = 0
    return position
  }

  #bridge(gap: Samples, atSample: Samples): void {
    const silence = new Int16Array(this.#samples(BLOCK_MS))
    const heard = Math.min(gap, this.#samples(MAX_GAP_MS))
    for (let left = heard; left > 0; left -= silence.length) this.#process(silence.subarray(0, left))
    if (gap === heard) return
    if (this.#voiceFrom !== null) this.#endPhrase()
    this.#restart(atSample)
  }

  #process(samples: Int16Array): void {
    const { format, onSent } = this.#options
    this.#audio.set(samples, this.#length)
    this.#length += samples.length
    this.#position! += samples.length
    onSent(samplesToMs(samples.length, format))
    const analysed = this.#resampling === null ? samples : this.#resampling.push(samples)
    this.#voice.push(this.#analysed, analysed, 0, analysed.length)
    this.#analysed += analysed.length
    for (let edge = this.#voice.take(); edge !== null; edge = this.#voice.take()) this.#onEdge(edge)
    this.#settle()
  }

  #onEdge(edge: 'voice-start' | 'voice-end'): void {
    const at = this.#voice.position * this.#scale
    if (edge === 'voice-end') {
      this.#voiceTo = Math.max(this.#voiceTo, at)
      return
    }
    if (this.#voiceFrom !== null) return
    this.#voiceFrom = at
    this.#voiceTo = at
    this.#partialAt = at
    this.#listener({ type: 'speech-started', atSample: at })
  }

  #settle(): void {
    const position = this.#position!
    if (this.#voiceFrom === null) return this.#forgetBefore(position - this.#samples(KEPT_MS))
    const { endpointingMs } = this.#options
    const isQuiet = !this.#voice.speaking && position - this.#voiceTo >= this.#samples(endpointingMs)
    const isLong = position - this.#from() >= this.#samples(MAX_PHRASE_MS)
    if (isQuiet || isLong) return this.#endPhrase()
    const isDue = this.#voice.speaking && position - this.#partialAt >= this.#samples(PARTIAL_MS)
    if (!isDue) return
    if (this.#options.hasPartials === false) {
      this.#partialAt = position
      this.#listener({ type: 'speech-started', atSample: this.#voiceFrom })
    } else if (this.#partial === null && !this.#isRunning) void this.#requestPartial()
  }

  #from(): Samples {
    return Math.max(this.#position! - this.#length, this.#voiceFrom! - this.#samples(LEAD_MS))
  }

  #forgetBefore(position: Samples): void {
    const first = this.#position! - this.#length
    const count = Math.min(this.#length, position - first)
    // Not with every block, because it moves what stays.
    if (count < this.#samples(KEPT_MS)) return
    this.#audio.copyWithin(0, count, this.#length)
    this.#length -= count
  }

  #job(): Job {
    const from = this.#from()
    const position = this.#position!
    return {
      samples: this.#audio.slice(this.#length - (position - from), this.#length),
      from,
      voiceFrom: this.#voiceFrom!,
      voiceTo: this.#voice.speaking ? position : this.#voiceTo,
      finalizes: 0,
    }
  }

  #endPhrase(): void {
    this.#partial?.abort()
    this.#partial = null
    this.#jobs.push(this.#job())
    const position = this.#position!
    // Speech that continues belongs to the next phrase.
    this.#voiceFrom = this.#voice.speaking ? position : null
    this.#voiceTo = position
    this.#partialAt = position
    this.#length = 0
    if (!this.#isRunning) void this.#run()
  }

  async #requestPartial(): Promise<void> {
    const job = this.#job()
    const partial = new AbortController()
    this.#partial = partial
    this.#partialAt = this.#position!
    try {
      const words = wordsOf(await this.#ask(job, partial.signal), { ...job, format: this.#options.format })
      if (partial.signal.aborted || words.length === 0) return
      this.#listener({ type: 'partial', text: words.map(({ text }) => text).join(' '), words })
    } catch {
      // The request for the whole phrase reports what is wrong with the server.
    } finally {
      if (this.#partial === partial) this.#partial = null
    }
  }

  /** Requests the words of the phrases, one after the other. */
  async #run(): Promise<void> {
    this.#isRunning = true
    for (let job = this.#jobs[0]; job !== undefined && !this.#closed; job = this.#jobs[0]) {
      const transcription = await this.#transcribed(job)
      if (this.#closed || transcription === null) return
      this.#jobs.shift()
      this.#report(job, transcription)
    }
    this.#isRunning = false
  }

  /** Null: the stream is over. */
  async #transcribed(job: Job): Promise<Transcription | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#ask(job, this.#abort.signal)
      } catch (cause) {
        if (this.#closed) return null
        const error = failureOf(cause)
        if (attempt === 2 || !error.retryable) {
          this.fail(error)
          return null
        }
        this.#listener({ type: 'error', error })
      }
    }
  }

  #ask(job: Job, signal: AbortSignal): Promise<Transcription> {
    const { transcribe, language, keywords, format } = this.#options
    return transcribe({ samples: job.samples, format, language, keywords }, signal)
  }

  #report(job: Job, transcription: Transcription): void {
    const { format } = this.#options
    const words = wordsOf(transcription, { ...job, format })
    const isSpeech = job.voiceTo - job.voiceFrom >= this.#samples(MIN_SPEECH_MS)
    if (words.length === 0 && isSpeech)
      this.#listener({ type: 'unintelligible', startSample: job.voiceFrom, endSample: job.voiceTo })
    const fromFinalize = job.finalizes > 0
    if (words.length > 0 || fromFinalize)
      this.#listener({
        type: 'final',
        text: words.map(({ text }) => text).join(' '),
        words,
        fromFinalize,
        ...(transcription.language !== null && { language: transcription.language }),
      })
    for (let i = 1; i < job.finalizes; i++) this.#listener({ type: 'final', text: '', words: [], fromFinalize: true })
    if (this.#jobs.some(({ finalizes }) => finalizes > 0)) return
    this.#overdue?.cancel()
    this.#overdue = null
  }

  /** Answers all finalize requests without words; the words come later. */
  #answerFinalizes(): void {
    this.#overdue = null
    for (const job of this.#jobs) {
      const count = job.finalizes
      job.finalizes = 0
      for (let i = 0; i < count; i++) this.#listener({ type: 'final', text: '', words: [], fromFinalize: true })
    }
  }
}

function failureOf(cause: unknown): ProviderFailure {
  if (ProviderError.is(cause)) return cause
  return new ProviderError('recogniser_unreachable', 'The recogniser is not reachable, or closed the connection.', {
    cause,
  })
}
