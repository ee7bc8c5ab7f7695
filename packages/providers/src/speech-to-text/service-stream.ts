import {
  type Ms,
  msToSamples,
  NARROWBAND,
  ParleyError,
  type Samples,
  samplesToMs,
  type Time,
  type Timer,
} from '@parley/kernel'
import { encodePcmu } from '@parley/media'
import { FinalizeRequests } from './finalize-requests.ts'
import { ReplayBuffer } from './replay-buffer.ts'
import { type Connect, ServiceLink } from './service-link.ts'
import type { ServiceEvent, ServiceProtocol } from './service-protocol.ts'
import type { SpeechEvent, SpeechStream } from './speech-to-text.ts'
import { TranscriptAssembler } from './transcript-assembler.ts'

const FINALIZE_MS: Ms = 1500
/** A second loss within this time, and the stream is given up. */
const LOSSES_APART_MS: Ms = 30_000
/** Audio that is sent again to a new connection, at most. */
const MOST_KEPT: Samples = msToSamples(10_000, NARROWBAND)
/** While nobody was speaking, so much of it: a service that has said nothing by then will not. */
const KEPT_IN_SILENCE: Samples = msToSamples(3000, NARROWBAND)
/** How long a connection must have listened for that to hold. */
const SETTLED_MS: Ms = 5000
/** What was written while a connection was made has been heard by then. */
const CAUGHT_UP_MS: Ms = 2000
/** A busy service is asked again by the same call if it wants to be within this time. */
const LONGEST_RETRY_MS: Ms = 3000
const RETRY_MS: Ms = 500
/** A service that is made to finalize does so with what it has heard by then. */
const HEARING_LAG: Samples = msToSamples(1000, NARROWBAND)

interface ServiceStreamOptions {
  readonly protocol: ServiceProtocol
  /** Opens a connection; called again when one was lost. */
  readonly connect: Connect
  readonly time: Time
  /** As `ServiceLinkOptions` has it. */
  readonly withoutSecret?: (text: string) => string
  /** `finalize` is answered after so long with what is known; default 1500. */
  readonly finalizeMs?: Ms
  /** How long a busy service wants to be left alone; null where it does not say. */
  readonly retryAfterMs?: (error: ParleyError) => Ms | null
  /** As `SpeechStreamOptions` has it. */
  readonly onSent?: (audioMs: Ms) => void
  readonly onClose: () => void
}

/**
 * A call's ear at a service. Audio is kept until it became words: it goes to the first connection when that is ready, and
 * once more to a new one when a connection is lost. A loss is told as a retryable "error"; a second one within 30 s, or a
 * refusal, as one that is not: the stream is dead.
 */
export class ServiceStream implements SpeechStream {
  readonly #options: ServiceStreamOptions
  readonly #kept = new ReplayBuffer(MOST_KEPT)
  readonly #understanding = new TranscriptAssembler(event => this.#listener(event))
  readonly #requests: FinalizeRequests
  #listener: (event: SpeechEvent) => void = () => {}
  #link: ServiceLink
  #readyAt: Ms | null = null
  #lostAt: Ms | null = null
  #retry: Timer | null = null
  #over = false
  /** Of the next sample; null before the first. */
  #position: Samples | null = null
  #bytes = new Uint8Array(320)
  /** The last words were all final before: so is what is said of their turn. */
  #isStale = false
  #wasForced = false
  /** Requests about what was written before this were made of the service as one. */
  #askedTogether: Samples = Number.NEGATIVE_INFINITY
  #turnEnd: Samples = 0

  constructor(options: ServiceStreamOptions) {
    this.#options = options
    const patienceMs = options.finalizeMs ?? FINALIZE_MS
    this.#requests = new FinalizeRequests({
      time: options.time,
      patienceMs,
      isQuiet: () => !this.#understanding.isOpen && this.#hasListenedFor(CAUGHT_UP_MS),
      onOverdue: () => this.#understanding.settle(true),
    })
    this.#link = this.#open()
  }

  onEvent(listener: (event: SpeechEvent) => void): void {
    this.#listener = listener
  }

  write(samples: Int16Array, atSample: Samples): void {
    if (this.#over) return
    const position = this.#position ?? atSample
    const known = Math.min(samples.length, Math.max(0, position - atSample))
    const count = samples.length - known
    if (count === 0) return
    if (this.#bytes.length < count) this.#bytes = new Uint8Array(count)
    encodePcmu(samples, known, count, this.#bytes, 0)
    const bytes = this.#bytes.subarray(0, count)
    this.#kept.append(bytes, atSample + known)
    this.#position = atSample + known + count
    this.#link.write(bytes, atSample + known)
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

  #open(): ServiceLink {
    const { protocol, connect, time, withoutSecret } = this.#options
    this.#readyAt = null
    const link = new ServiceLink(
      { protocol, connect, time, ...(withoutSecret !== undefined && { withoutSecret }) },
      {
        onReady: () => this.#onReady(),
        onNews: news => this.#onNews(news, link),
        onSent: count => this.#options.onSent?.(samplesToMs(count, NARROWBAND)),
        onEnd: error => this.#onLost(error),
      },
    )
    return link
  }

  #onReady(): void {
    this.#readyAt = this.#options.time.now()
    for (const { at, bytes } of this.#kept.stretches()) this.#link.write(bytes, at)
    if (this.#requests.oldest === null) return
    this.#askedTogether = this.#position ?? 0
    this.#link.finalize()
  }

  #onNews(news: ServiceEvent, link: ServiceLink): void {
    switch (news.type) {
      case 'speech-started':
        return this.#onSpeech(news.at === null ? (this.#position ?? 0) : link.toClock(news.at))
      case 'words':
        return this.#onWords(news, link)
      case 'end-of-turn':
        if (this.#isStale || (this.#wasForced && !news.eager)) return
        return this.#listener({
          type: 'end-of-turn',
          atSample: this.#turnEnd,
          confidence: Math.min(1, Math.max(0, news.confidence)),
          eager: news.eager,
        })
      case 'turn-resumed':
        if (!this.#isStale) this.#listener({ type: 'turn-resumed', atSample: this.#turnEnd })
        return
      case 'silence':
        return this.#onSilence(link.toClock(news.until))
    }
  }

  #onSpeech(at: Samples): void {
    if (at >= this.#understanding.finalTo) this.#understanding.speechStarted(at)
  }

  #onWords(news: Extract<ServiceEvent, { type: 'words' }>, link: ServiceLink): void {
    const asked = this.#requests.oldest
    const until = news.until === null ? null : link.toClock(news.until)
    const slack = news.forced === true ? HEARING_LAG : 0
    const answers = news.final && asked !== null && news.forced !== false && (until === null || until >= asked - slack)
    this.#wasForced = news.forced === true || (news.forced === null && until === null && answers)
    this.#turnEnd = news.words.at(-1)?.end == null ? (until ?? this.#turnEnd) : link.toClock(news.words.at(-1)!.end!)
    const count = answers ? this.#requests.answered(until ?? this.#askedTogether) : 0
    this.#isStale = !this.#understanding.words(news, stream => link.toClock(stream), answers)
    for (let i = 1; i < count; i++) this.#understanding.settle(true)
    if (news.final) this.#kept.forgetBefore(this.#understanding.finalTo)
  }

  #onSilence(until: Samples): void {
    if (this.#understanding.isOpen) return
    this.#kept.forgetBefore(until - KEPT_IN_SILENCE)
    const asked = this.#requests.oldest
    if (asked === null || until < asked) return
    for (let i = this.#requests.answered(until); i > 0; i--) this.#understanding.settle(true)
  }

  #onLost(error: ParleyError): void {
    if (this.#over) return
    const { time } = this.#options
    const isSecond = this.#lostAt !== null && time.now() - this.#lostAt < LOSSES_APART_MS
    const waitMs = this.#waitMs(error)
    if (!error.retryable || isSecond || waitMs === null) return this.#die(error)
    this.#lostAt = time.now()
    this.#forgetSilence()
    this.#readyAt = null
    this.#understanding.interrupted(this.#kept.from ?? this.#position ?? 0)
    this.#listener({ type: 'error', error })
    this.#retry = time.at(time.now() + waitMs, () => {
      if (!this.#over) this.#link = this.#open()
    })
  }

  /** Until another attempt; null: not in this call. */
  #waitMs(error: ParleyError): Ms | null {
    if (error.code !== 'recogniser_busy') return 0
    const waitMs = this.#options.retryAfterMs?.(error) ?? RETRY_MS
    return waitMs <= LONGEST_RETRY_MS ? waitMs : null
  }

  /** A service catches up slowly with what it is sent at once: nobody's silence is sent again. */
  #forgetSilence(): void {
    if (this.#understanding.isOpen || !this.#hasListenedFor(SETTLED_MS)) return
    this.#kept.forgetBefore((this.#position ?? 0) - KEPT_IN_SILENCE)
  }

  #hasListenedFor(ms: Ms): boolean {
    return this.#readyAt !== null && this.#options.time.now() - this.#readyAt >= ms
  }

  #die(error: ParleyError): void {
    if (this.#requests.oldest !== null)
      for (let i = this.#requests.answered(Number.POSITIVE_INFINITY); i > 0; i--) this.#understanding.settle(true)
    this.#understanding.settle(false)
    const dead = error.retryable ? new ParleyError(error.code, error.message, { cause: error }) : error
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
