import { type Ms, msToSamples, type Samples, type Time, type Timer } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { ServiceEncoding } from '../service-encoding.ts'
import { FinalizeRequests } from './finalize-requests.ts'
import { ReplayBuffer } from './replay-buffer.ts'
import { type Connect, ServiceLink } from './service-link.ts'
import type { ServiceEvent, ServiceProtocol } from './service-protocol.ts'
import type { SpeechEvent, SpeechStream } from './speech-to-text.ts'
import { TranscriptAssembler } from './transcript-assembler.ts'

const FINALIZE_MS: Ms = 1500
/** A second lost connection within this time ends the stream. */
const LOSSES_APART_MS: Ms = 30_000
/** Most audio that is sent again to a new connection. */
const MAX_REPLAY_MS: Ms = 10_000
/** Most silence that is sent again: a service that has reported no words for older audio will not report any. */
const MAX_REPLAYED_SILENCE_MS: Ms = 3000
/** A connection must have received audio for this long before silence is dropped from the replay. */
const SETTLED_MS: Ms = 5000
/** After this time a new connection has processed the audio that was buffered while it opened. */
const CAUGHT_UP_MS: Ms = 2000
/** The longest Retry-After of a busy service that the stream waits for. */
const MAX_RETRY_MS: Ms = 3000
const RETRY_MS: Ms = 500
/** After this much silence without open words, audio is sent in longer messages. */
const QUIET_AFTER_MS: Ms = 1000
/** A forced final may end this much before the requested position: the service finalises the audio that it has processed. */
const PROCESSING_LAG_MS: Ms = 1000

interface ServiceStreamOptions {
  readonly protocol: ServiceProtocol
  readonly encoding: ServiceEncoding
  /** Opens a connection; called again when one was lost. */
  readonly connect: Connect
  readonly time: Time
  /** See `ServiceLinkOptions.withoutSecret`. */
  readonly withoutSecret?: (text: string) => string
  /** Time after which `finalize` is answered with the words so far; ms, default 1500. */
  readonly finalizeMs?: Ms
  /** The Retry-After time of a busy service; null when it sent none. */
  readonly retryAfterMs?: (error: ProviderFailure) => Ms | null
  /** See `SpeechStreamOptions.tellsVoice`: silence is sent in longer messages then. Default false. */
  readonly tellsVoice?: boolean
  /** See `SpeechStreamOptions.onSent`. */
  readonly onSent?: (audioMs: Ms) => void
  readonly onClose: () => void
}

/**
 * The stream of one call to a recogniser service. Audio is buffered until its words are final; a connection gets the
 * buffered audio when it is ready, and a new connection gets it again after a loss. A lost connection is reported as a
 * retryable "error". A second loss within 30 s, or a refusal, is reported as a non-retryable one and ends the stream.
 */
export class ServiceStream implements SpeechStream {
  readonly #options: ServiceStreamOptions
  readonly #encoding: ServiceEncoding
  readonly #replay: ReplayBuffer
  readonly #transcript: TranscriptAssembler
  readonly #requests: FinalizeRequests
  #listener: (event: SpeechEvent) => void = () => {}
  #link: ServiceLink
  #readyAt: Ms | null = null
  #lostAt: Ms | null = null
  #retry: Timer | null = null
  #over = false
  /** Position of the next sample; null before the first. */
  #position: Samples | null = null
  #bytes = new Uint8Array(320)
  /** The last words were final already, so events about their turn are repetitions. */
  #isStale = false
  #wasForced = false
  /** Finalize requests for audio before this position were sent to the service as one. */
  #sentTogetherTo: Samples = Number.NEGATIVE_INFINITY
  #turnEnd: Samples = 0
  /** Position at which the last voice ended, or the audio began; null while there is voice, and always if the stream is not told. */
  #silentFrom: Samples | null = null

  constructor(options: ServiceStreamOptions) {
    this.#options = options
    const { encoding } = options
    this.#encoding = encoding
    this.#replay = new ReplayBuffer(encoding, MAX_REPLAY_MS)
    this.#transcript = new TranscriptAssembler(encoding.format, event => this.#listener(event))
    const timeoutMs = options.finalizeMs ?? FINALIZE_MS
    this.#requests = new FinalizeRequests({
      time: options.time,
      timeoutMs,
      isQuiet: () => !this.#transcript.isOpen && this.#hasListenedFor(CAUGHT_UP_MS),
      onOverdue: () => this.#transcript.settle(true),
    })
    this.#link = this.#open()
  }

  onEvent(listener: (event: SpeechEvent) => void): void {
    this.#listener = listener
  }

  write(samples: Int16Array, atSample: Samples): void {
    if (this.#over) return
    const position = this.#position ?? this.#begin(atSample)
    const known = Math.min(samples.length, Math.max(0, position - atSample))
    const count = samples.length - known
    if (count === 0) return
    const length = count * this.#encoding.bytesPerSample
    if (this.#bytes.length < length) this.#bytes = new Uint8Array(length)
    const bytes = this.#bytes.subarray(0, length)
    this.#encoding.encode(samples, known, count, bytes)
    this.#replay.append(bytes, atSample + known)
    this.#position = atSample + known + count
    this.#link.write(bytes, atSample + known, this.#isQuiet())
  }

  voice(type: 'voice-start' | 'voice-end', atSample: Samples): void {
    if (this.#options.tellsVoice === true) this.#silentFrom = type === 'voice-end' ? atSample : null
  }

  finalize(): void {
    if (this.#over) return
    this.#requests.add(this.#position ?? 0)
    this.#link.finalize()
  }

  close(): void {
    if (this.#over) return
    this.#listener = () => {}
    this.#finish()
  }

  #begin(position: Samples): Samples {
    if (this.#options.tellsVoice === true) this.#silentFrom ??= position
    return position
  }

  /** Nobody speaks, and nothing that the service could say about what was spoken is missing. */
  #isQuiet(): boolean {
    if (this.#silentFrom === null || this.#transcript.isOpen || this.#requests.oldest !== null) return false
    return this.#position! - this.#silentFrom >= msToSamples(QUIET_AFTER_MS, this.#encoding.format)
  }

  #open(): ServiceLink {
    const { protocol, encoding, connect, time, withoutSecret } = this.#options
    this.#readyAt = null
    const link = new ServiceLink(
      { protocol, encoding, connect, time, ...(withoutSecret !== undefined && { withoutSecret }) },
      {
        onReady: () => this.#onReady(),
        onServiceEvent: event => this.#onServiceEvent(event, link),
        onSent: audioMs => this.#options.onSent?.(audioMs),
        onEnd: error => this.#onLost(error),
      },
    )
    return link
  }

  #onReady(): void {
    this.#readyAt = this.#options.time.now()
    for (const { at, bytes } of this.#replay.stretches()) this.#link.write(bytes, at)
    if (this.#requests.oldest === null) return
    this.#sentTogetherTo = this.#position ?? 0
    this.#link.finalize()
  }

  #onServiceEvent(event: ServiceEvent, link: ServiceLink): void {
    switch (event.type) {
      case 'speech-started':
        return this.#onSpeech(event.atMs === null ? (this.#position ?? 0) : link.toClock(event.atMs))
      case 'words':
        return this.#onWords(event, link)
      case 'end-of-turn':
        if (this.#isStale || (this.#wasForced && !event.eager)) return
        return this.#listener({
          type: 'end-of-turn',
          atSample: this.#turnEnd,
          confidence: Math.min(1, Math.max(0, event.confidence)),
          eager: event.eager,
        })
      case 'turn-resumed':
        if (!this.#isStale) this.#listener({ type: 'turn-resumed', atSample: this.#turnEnd })
        return
      case 'silence':
        return this.#onSilence(link.toClock(event.untilMs))
    }
  }

  #onSpeech(at: Samples): void {
    if (at >= this.#transcript.finalTo) this.#transcript.speechStarted(at)
  }

  #onWords(event: Extract<ServiceEvent, { type: 'words' }>, link: ServiceLink): void {
    const requested = this.#requests.oldest
    const until = event.untilMs === null ? null : link.toClock(event.untilMs)
    const slack = event.forced === true ? msToSamples(PROCESSING_LAG_MS, this.#encoding.format) : 0
    const answers =
      event.final && requested !== null && event.forced !== false && (until === null || until >= requested - slack)
    this.#wasForced = event.forced === true || (event.forced === null && until === null && answers)
    const lastWordEndMs = event.words.at(-1)?.endMs ?? null
    this.#turnEnd = lastWordEndMs === null ? (until ?? this.#turnEnd) : link.toClock(lastWordEndMs)
    const count = answers ? this.#requests.answered(until ?? this.#sentTogetherTo) : 0
    this.#isStale = !this.#transcript.words(event, serviceMs => link.toClock(serviceMs), answers)
    for (let i = 1; i < count; i++) this.#transcript.settle(true)
    if (event.final) this.#replay.forgetBefore(this.#transcript.finalTo)
  }

  #onSilence(until: Samples): void {
    if (this.#transcript.isOpen) return
    this.#replay.forgetBefore(until - this.#maxReplayedSilence)
    const requested = this.#requests.oldest
    if (requested === null || until < requested) return
    for (let i = this.#requests.answered(until); i > 0; i--) this.#transcript.settle(true)
  }

  #onLost(error: ProviderFailure): void {
    if (this.#over) return
    const { time } = this.#options
    const isSecond = this.#lostAt !== null && time.now() - this.#lostAt < LOSSES_APART_MS
    const waitMs = this.#waitMs(error)
    if (!error.retryable || isSecond || waitMs === null) return this.#die(error)
    this.#lostAt = time.now()
    this.#forgetSilence()
    this.#readyAt = null
    this.#transcript.interrupted(this.#replay.from ?? this.#position ?? 0)
    this.#listener({ type: 'error', error })
    this.#retry = time.at(time.now() + waitMs, () => {
      if (!this.#over) this.#link = this.#open()
    })
  }

  /** Time until the next connection attempt; null when the stream makes none. */
  #waitMs(error: ProviderFailure): Ms | null {
    if (error.code !== 'recogniser_busy') return 0
    const waitMs = this.#options.retryAfterMs?.(error) ?? RETRY_MS
    return waitMs <= MAX_RETRY_MS ? waitMs : null
  }

  /** Drops silence from the replay, because a service processes a burst of audio slowly. */
  #forgetSilence(): void {
    if (this.#transcript.isOpen || !this.#hasListenedFor(SETTLED_MS)) return
    this.#replay.forgetBefore((this.#position ?? 0) - this.#maxReplayedSilence)
  }

  get #maxReplayedSilence(): Samples {
    return msToSamples(MAX_REPLAYED_SILENCE_MS, this.#encoding.format)
  }

  #hasListenedFor(ms: Ms): boolean {
    return this.#readyAt !== null && this.#options.time.now() - this.#readyAt >= ms
  }

  #die(error: ProviderFailure): void {
    if (this.#requests.oldest !== null)
      for (let i = this.#requests.answered(Number.POSITIVE_INFINITY); i > 0; i--) this.#transcript.settle(true)
    this.#transcript.settle(false)
    const dead = error.retryable
      ? new ProviderError(error.code, error.message, { retryable: false, cause: error })
      : error
    const listener = this.#listener
    this.#finish()
    listener({ type: 'error', error: dead })
  }

  #finish(): void {
    this.#over = true
    this.#retry?.cancel()
    this.#requests.clear()
    this.#link.close()
    this.#options.onClose()
  }
}
