import { type AudioFormat, Emitter, NARROWBAND, type Samples } from '@parley/kernel'
import { eventOfDigit } from '../dtmf/telephone-event.ts'
import { MediaError } from '../errors.ts'
import { checkedParameters, describeChain } from './media-parameters.ts'
import type {
  MediaEvent,
  MediaParameters,
  MediaReport,
  MediaSession,
  MediaSessionOptions,
  MediaStatistics,
  RecordingSplit,
  VoiceDetection,
  VoiceEdge,
} from './media-session.ts'
import { PlayQueue } from './play-queue.ts'
import type { CoreEvent, DigitOptions, SessionCommand, SessionReply } from './session-protocol.ts'
import type { SessionRings } from './session-rings.ts'
import { noStatistics } from './session-statistics.ts'

/** Maximum of digits that wait to be sent; the capacity of `TelephoneEventSender`. */
const MAX_WAITING_DIGITS = 256

interface MediaSessionHandleOptions {
  readonly id: number
  readonly session: MediaSessionOptions
  readonly local: { readonly address: string; readonly port: number }
  readonly rings: SessionRings
  /** Passes a command to the core, in order. */
  readonly post: (command: SessionCommand) => void
  /**
   * Called when the core is closed or lost: releases the port and completes the recording; resolves with the recording.
   */
  readonly finish: () => Promise<MediaReport['recording']>
  /** Splits the recording; `from`: null where no other one begins. Default: nothing is recorded in files. */
  readonly split?: (
    next: NonNullable<MediaSessionOptions['recording']> | null,
  ) => Promise<{ readonly segments: number | null; readonly from: Samples | null }>
}

/** The call owner's side of a session, the same whether its core runs on a media thread or in place. */
export class MediaSessionHandle implements MediaSession {
  readonly id: number
  readonly format: AudioFormat
  readonly local: { readonly address: string; readonly port: number }
  readonly #options: MediaSessionHandleOptions
  readonly #queue: PlayQueue
  readonly #events = new Emitter<MediaEvent>()
  readonly #statisticsWanted: PromiseWithResolvers<MediaStatistics>[] = []
  readonly #coreClosed = Promise.withResolvers<void>()
  #parameters: MediaParameters | null = null
  #waitingDigits = 0
  #last: MediaStatistics = noStatistics()
  #state: 'open' | 'closing' | 'closed' | 'failed' = 'open'
  #report: Promise<MediaReport> | null = null

  constructor(options: MediaSessionHandleOptions) {
    const { holdMs } = options.session
    if (holdMs !== undefined && options.rings.format.sampleRateHz === NARROWBAND.sampleRateHz)
      throw new RangeError('a session of 8 kHz has no holdMs of its own: leave it out')
    this.id = options.id
    this.format = options.rings.format
    this.local = options.local
    this.#options = options
    this.#queue = new PlayQueue(options.rings)
  }

  onEvent(listener: (event: MediaEvent) => void): void {
    this.#events.listen(listener)
  }

  apply(parameters: MediaParameters): void {
    const checked = checkedParameters(parameters)
    if (this.#state !== 'open') return
    this.#parameters = checked
    if (checked.dtmfPayloadType === null) this.#waitingDigits = 0
    const { inBandDigits, silentRemoteAfterMs, holdMs } = this.#options.session
    const applied = {
      ...checked,
      ...(inBandDigits === undefined ? {} : { inBandDigits }),
      ...(silentRemoteAfterMs === undefined ? {} : { silentRemoteAfterMs }),
      ...(holdMs === undefined ? {} : { holdMs }),
    }
    this.#options.post({ type: 'apply', parameters: applied })
  }

  play(audio: Int16Array): Samples {
    return this.#state === 'open' ? this.#queue.play(audio) : this.#queue.played()
  }

  flush(): Samples {
    return this.#queue.flush()
  }

  played(): Samples {
    return this.#queue.played()
  }

  queued(): Samples {
    return this.#queue.queued()
  }

  /** Throws `MediaError` "invalid_digits", "too_many_digits" (256 wait already), "digits_not_negotiated". */
  sendDigits(digits: string, options: DigitOptions = {}): void {
    for (const digit of digits) {
      if (eventOfDigit(digit) < 0) throw new MediaError('invalid_digits', `"${digit}" is not a DTMF digit`)
    }
    if (this.#parameters === null || this.#parameters.dtmfPayloadType === null) {
      throw new MediaError('digits_not_negotiated', 'the peer takes no telephone-event: send digits another way')
    }
    if (this.#waitingDigits + digits.length > MAX_WAITING_DIGITS) {
      throw new MediaError('too_many_digits', `more than ${MAX_WAITING_DIGITS} digits wait to be sent`)
    }
    if (this.#state !== 'open' || digits.length === 0) return
    this.#waitingDigits += digits.length
    this.#options.post({ type: 'digits', digits, options })
  }

  readHeard(into: Int16Array): Samples {
    return this.#options.rings.readHeard(into)
  }

  heardPosition(): Samples {
    const { rings } = this.#options
    return rings.heardOrigin() + rings.heardRead()
  }

  setBackground(loop: Int16Array | null, gain: number): void {
    if (this.#state === 'open') this.#options.post({ type: 'background', loop, gain })
  }

  detectVoice(options: VoiceDetection): void {
    if (this.#state === 'open') this.#options.post({ type: 'detect-voice', options })
  }

  nextVoiceEdge(): VoiceEdge | null {
    return this.#options.rings.nextVoiceEdge()
  }

  async splitRecording(next: NonNullable<MediaSessionOptions['recording']> | null): Promise<RecordingSplit> {
    const split = await this.#options.split?.(next)
    return { segments: split?.segments ?? null, atSample: split?.from ?? this.heardPosition() }
  }

  /** Throws `MediaError` "unknown_session" for a session of another plane or format. */
  playTo(listener: MediaSession): () => void {
    if (!(listener instanceof MediaSessionHandle) || listener.format.sampleRateHz !== this.format.sampleRateHz)
      throw new MediaError('unknown_session', 'a listener needs a session of the same plane and format')
    if (this.#state === 'open')
      this.#options.post({ type: 'listen', listener: listener.id, memory: listener.#options.rings.memory })
    return () => {
      if (this.#state === 'open') this.#options.post({ type: 'listen', listener: listener.id, memory: null })
    }
  }

  describe(): string {
    const { session } = this.#options
    const path = session.recording?.path ?? null
    return describeChain(session.label, this.local, this.#parameters, path, session.inBandDigits)
  }

  /** Current statistics; after `close` or a failure the last known ones. */
  statistics(): Promise<MediaStatistics> {
    if (this.#state !== 'open') return Promise.resolve(this.#last)
    const wanted = Promise.withResolvers<MediaStatistics>()
    this.#statisticsWanted.push(wanted)
    this.#options.post({ type: 'statistics' })
    return wanted.promise
  }

  close(): Promise<MediaReport> {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#options.post({ type: 'close' })
    }
    this.#report ??= this.#finish()
    return this.#report
  }

  /** Processes a reply of the core. */
  deliver(reply: SessionReply): void {
    switch (reply.type) {
      case 'event':
        this.#forward(reply.event)
        return
      case 'statistics':
        this.#last = reply.statistics
        this.#statisticsWanted.shift()?.resolve(reply.statistics)
        return
      case 'closed':
        this.#settle('closed', reply.statistics)
        return
      case 'failed':
        this.fail(reply.detail)
        return
    }
  }

  /** The core was lost. */
  fail(detail: string): void {
    if (this.#state === 'closed' || this.#state === 'failed') return
    const closing = this.#state === 'closing'
    this.#settle('failed', this.#last)
    // A failed session releases its resources without close().
    this.#report ??= this.#finish()
    if (!closing) this.#events.emit({ type: 'failed', detail })
  }

  #settle(state: 'closed' | 'failed', statistics: MediaStatistics): void {
    this.#state = state
    this.#last = statistics
    for (const wanted of this.#statisticsWanted.splice(0)) wanted.resolve(statistics)
    this.#coreClosed.resolve()
  }

  async #finish(): Promise<MediaReport> {
    await this.#coreClosed.promise
    const recording = await this.#options.finish()
    return { statistics: this.#last, recording }
  }

  #forward(event: CoreEvent): void {
    if (event.type !== 'play-progress') {
      if (event.type === 'digits-sent') this.#waitingDigits = Math.max(0, this.#waitingDigits - event.digits.length)
      this.#events.emit(event)
      return
    }
    this.#queue.refill()
    const position = this.#queue.positionOf(event.taken)
    const idle = event.idle && this.#queue.queued() === 0
    this.#events.emit({ type: 'play-progress', position, atSample: event.atSample, idle })
  }
}
