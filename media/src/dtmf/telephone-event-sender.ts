import type { Ms, RtpTicks } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { eventOfDigit, writeTelephoneEvent } from './telephone-event.ts'

const DEFAULT_DURATION_MS = 100
const DEFAULT_GAP_MS = 60
const MIN_DURATION_MS = 40
const MAX_DURATION_MS = 60_000
const MAX_GAP_MS = 10_000
const MAX_WAITING = 256
/** RFC 4733 section 2.5.1.4: the packet that ends an event is sent three times in all. */
const END_PACKETS = 3
/** The largest duration that a report can carry; then a new segment begins (RFC 4733 section 2.5.1.3). */
const SEGMENT_TICKS = 0xffff
/** -10 dBm0: inside the range that RFC 4733 section 2.3.4 tells receivers to accept. */
const VOLUME = 10

interface Batch {
  readonly digits: string
  readonly durationTicks: RtpTicks
  readonly gapTicks: RtpTicks
}

/**
 * Sends queued digits as RFC 4733 events, one packet per tick of the session. Each tick: `write` first; when it returns
 * 0 and `active` is set, send silence instead of queued audio; when it returns 4, send that payload with the
 * telephone-event payload type, `timestamp`, `marker` and the session's next sequence number.
 */
export class TelephoneEventSender {
  /** RTP timestamp of the packet that `write` produced last. */
  timestamp: RtpTicks = 0
  marker = false
  /** RTP clock rate of the session, per millisecond; it applies to the digits that are queued from now on. */
  ticksPerMs = 8

  readonly #batches: Batch[] = []
  readonly #sent: string[] = []
  #waiting = 0
  /** Index of the current digit within the first batch. */
  #index = 0
  #phase: 'idle' | 'event' | 'repeat-end' | 'gap' = 'idle'
  #event = 0
  /** Start of the current segment. */
  #segmentStart: RtpTicks = 0
  #segmentTicks: RtpTicks = 0
  /** Samples of the current event before the current segment. */
  #earlierTicks: RtpTicks = 0
  #eventTicks: RtpTicks = 0
  #endPacketsLeft = 0
  #gapLeft: RtpTicks = 0

  /** Whether digits are queued or being sent; audio is suppressed then. */
  get active(): boolean {
    return this.#phase !== 'idle' || this.#batches.length > 0
  }

  /**
   * Queues a batch behind those waiting. `durationMs` of each digit: default 100, at least 40; `gapMs` after each: default
   * 60, and never shorter than the repeated end packets take. Characters 0-9 * # A-D; others throw `MediaError`
   * "invalid_digits"; a duration or gap that is not a number or out of bounds (60 s, 10 s) "invalid_digit_timing"; more
   * than 256 waiting "too_many_digits".
   */
  enqueue(digits: string, options: { readonly durationMs?: Ms; readonly gapMs?: Ms } = {}): void {
    const durationMs = options.durationMs ?? DEFAULT_DURATION_MS
    const gapMs = options.gapMs ?? DEFAULT_GAP_MS
    if (!(durationMs >= 0 && durationMs <= MAX_DURATION_MS) || !(gapMs >= 0 && gapMs <= MAX_GAP_MS))
      throw new MediaError('invalid_digit_timing', `A digit cannot last ${durationMs} ms with a gap of ${gapMs} ms.`)
    for (const digit of digits)
      if (eventOfDigit(digit) < 0)
        throw new MediaError('invalid_digits', `${JSON.stringify(digit)} is no DTMF digit: use 0-9, *, #, A-D.`)
    if (this.#waiting + digits.length > MAX_WAITING)
      throw new MediaError('too_many_digits', `More than ${MAX_WAITING} digits would wait.`)
    if (digits.length === 0) return
    this.#waiting += digits.length
    this.#batches.push({
      digits,
      durationTicks: this.#ticksOf(Math.max(durationMs, MIN_DURATION_MS)),
      gapTicks: this.#ticksOf(gapMs),
    })
  }

  /**
   * Writes this tick's payload at `dst[dstOffset]` and returns its length: 4, or 0 when no event packet is due.
   * `tickTimestamp`: RTP timestamp that an audio packet of this tick would carry; `tickTicks`: its length (160 for 20 ms at 8 kHz).
   */
  write(tickTimestamp: RtpTicks, tickTicks: RtpTicks, dst: Uint8Array, dstOffset: number): number {
    this.marker = false
    if (this.#phase === 'gap') this.#passGap(tickTicks)
    if (this.#phase === 'idle') {
      if (this.#batches.length === 0) return 0
      this.#begin(tickTimestamp)
    }
    switch (this.#phase) {
      case 'event':
        return this.#writeUpdate(tickTicks, dst, dstOffset)
      case 'repeat-end':
        return this.#writeEndAgain(tickTicks, dst, dstOffset)
      default:
        return 0
    }
  }

  /** The digits of a batch that was sent completely since the last call, oldest first; null when none. */
  takeSent(): string | null {
    return this.#sent.length === 0 ? null : this.#sent.shift()!
  }

  /**
   * Drops digits that were not begun; the current digit ends as soon as 40 ms of it are sent. `takeSent` then returns
   * the digits of its batch that were sent.
   */
  cancel(): void {
    const batch = this.#batches[0]
    this.#batches.length = 0
    this.#waiting = 0
    if (batch === undefined) return
    if (this.#phase === 'idle' || this.#phase === 'gap') {
      if (this.#index > 0) this.#sent.push(batch.digits.slice(0, this.#index))
      this.#index = 0
      return
    }
    this.#batches.push({ ...batch, digits: batch.digits.slice(0, this.#index + 1) })
    this.#waiting = 1
    const lasted = this.#earlierTicks + this.#segmentTicks
    this.#eventTicks = Math.min(this.#eventTicks, Math.max(lasted, this.#ticksOf(MIN_DURATION_MS)))
  }

  #begin(tickTimestamp: RtpTicks): void {
    const batch = this.#batches[0]!
    this.#phase = 'event'
    this.#event = eventOfDigit(batch.digits[this.#index]!)
    this.#eventTicks = batch.durationTicks
    this.#segmentStart = tickTimestamp >>> 0
    this.#segmentTicks = 0
    this.#earlierTicks = 0
    this.marker = true
  }

  #writeUpdate(tickTicks: RtpTicks, dst: Uint8Array, dstOffset: number): number {
    if (this.#segmentTicks === SEGMENT_TICKS) {
      this.#earlierTicks += SEGMENT_TICKS
      this.#segmentStart = (this.#segmentStart + SEGMENT_TICKS) >>> 0
      this.#segmentTicks = 0
    }
    const left = this.#eventTicks - this.#earlierTicks
    this.#segmentTicks = Math.min(this.#segmentTicks + tickTicks, left, SEGMENT_TICKS)
    const end = this.#segmentTicks >= left
    if (end) {
      this.#phase = 'repeat-end'
      this.#endPacketsLeft = END_PACKETS - 1
      this.#gapLeft = this.#batches[0]!.gapTicks
    }
    return this.#writeReport(end, dst, dstOffset)
  }

  /** The event is over: its gap elapses while the end packet is repeated. */
  #writeEndAgain(tickTicks: RtpTicks, dst: Uint8Array, dstOffset: number): number {
    this.#endPacketsLeft--
    this.#gapLeft -= tickTicks
    if (this.#endPacketsLeft === 0) this.#completeDigit()
    return this.#writeReport(true, dst, dstOffset)
  }

  #writeReport(end: boolean, dst: Uint8Array, dstOffset: number): number {
    this.timestamp = this.#segmentStart
    return writeTelephoneEvent(dst, dstOffset, this.#event, end, VOLUME, this.#segmentTicks)
  }

  #completeDigit(): void {
    const batch = this.#batches[0]!
    this.#phase = 'gap'
    this.#index++
    this.#waiting--
    if (this.#index < batch.digits.length) return
    this.#sent.push(batch.digits)
    this.#batches.shift()
    this.#index = 0
  }

  #ticksOf(ms: Ms): RtpTicks {
    return Math.round(ms * this.ticksPerMs)
  }

  #passGap(tickTicks: RtpTicks): void {
    if (this.#gapLeft <= 0) this.#phase = 'idle'
    else this.#gapLeft -= tickTicks
  }
}
