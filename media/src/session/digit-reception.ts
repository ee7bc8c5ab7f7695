import { type Ms, msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import type { ReceiveStream } from '../dsp/receive-stream.ts'
import { DigitArbiter } from '../dtmf/digit-arbiter.ts'
import { InBandDetector } from '../dtmf/in-band-detector.ts'
import { digitOfEvent } from '../dtmf/telephone-event.ts'
import { TelephoneEventReceiver } from '../dtmf/telephone-event-receiver.ts'
import type { DigitSource, InBandDigits } from './media-session.ts'
import type { CoreEvent } from './session-protocol.ts'

interface DigitReceptionOptions {
  readonly openedAtMs: Ms
  /** Converts the timestamp of a telephone-event to a position. */
  readonly stream: ReceiveStream
  /** Samples of the session for each sample at 8 kHz, at which tones are found and digits compared. */
  readonly ratio: number
  readonly emit: (event: CoreEvent) => void
}

/**
 * Receives the digits of a session, as telephone-events and, where these are not agreed on, as tones; reports each
 * once.
 */
export class DigitReception {
  readonly #options: DigitReceptionOptions
  /** These are created when they are first needed: most calls have no digits, and need no tone detection. */
  #events: TelephoneEventReceiver | null = null
  #arbiter: DigitArbiter | null = null
  #tones: InBandDetector | null = null
  #ticksPerMs = 8
  #listening = false
  #expectsEvents = false

  constructor(options: DigitReceptionOptions) {
    this.#options = options
  }

  /** `eventsAgreed`: the peer may send telephone-events, at this clock rate in Hz. */
  apply(inBand: InBandDigits, eventsAgreed: boolean, clockRate: number): void {
    this.#ticksPerMs = clockRate / 1000
    if (this.#events !== null) this.#events.ticksPerMs = this.#ticksPerMs
    this.#expectsEvents = eventsAgreed
    this.#listening = inBand === 'on' || (inBand === 'auto' && !eventsAgreed)
    if (this.#listening) this.#tones ??= new InBandDetector()
  }

  /** Whether audio and the passing of time can bring no digit. */
  get idle(): boolean {
    return !this.#listening && this.#events?.active !== true && this.#arbiter?.waiting !== true
  }

  /** A telephone-event packet; see `TelephoneEventReceiver`. */
  packet(
    ssrc: number,
    timestamp: number,
    marker: boolean,
    bytes: Uint8Array,
    at: number,
    length: number,
    nowMs: Ms,
  ): void {
    if (this.#events === null) {
      this.#events = new TelephoneEventReceiver()
      this.#events.ticksPerMs = this.#ticksPerMs
    }
    this.#events.receive(ssrc, timestamp, marker, bytes, at, length, nowMs)
  }

  /** Heard audio at 8 kHz. */
  audio(position: Samples, audio: Int16Array, count: Samples): void {
    if (this.#listening) this.#tones!.push(position, audio, 0, count)
  }

  report(nowMs: Ms): void {
    if (this.#events !== null) this.#reportEvents(this.#events, nowMs)
    if (this.#tones !== null) this.#reportTones(this.#tones, nowMs)
  }

  #reportEvents(events: TelephoneEventReceiver, nowMs: Ms): void {
    events.expire(nowMs)
    while (events.take()) {
      const digit = digitOfEvent(events.event)
      if (digit === '') continue
      const position = this.#eventPosition(events)
      this.#arbiter ??= new DigitArbiter()
      if (this.#arbiter.event(digit, position, events.durationMs)) {
        this.#emit(digit, position, events.durationMs, 'rfc4733')
      }
    }
  }

  #reportTones(tones: InBandDetector, nowMs: Ms): void {
    while (tones.take()) {
      this.#arbiter ??= new DigitArbiter()
      this.#arbiter.tones(nowMs, tones.digit, tones.position, tones.durationMs, this.#expectsEvents)
    }
    const arbiter = this.#arbiter
    while (arbiter?.take(nowMs)) this.#emit(arbiter.digit, arbiter.position, arbiter.durationMs, 'in-band')
  }

  #emit(digit: string, atSample: Samples, durationMs: Ms, source: DigitSource): void {
    this.#options.emit({ type: 'digit', digit, atSample: atSample * this.#options.ratio, durationMs, source })
  }

  #eventPosition({ timestamp, arrivedAtMs }: TelephoneEventReceiver): Samples {
    const placed = this.#options.stream.positionOf(timestamp)
    if (placed >= 0) return Math.floor(placed / this.#options.ratio)
    return msToSamples(arrivedAtMs - this.#options.openedAtMs, NARROWBAND)
  }
}
