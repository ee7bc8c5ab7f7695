import type { Ms, RtpTicks } from '@parley/kernel'
import { readTelephoneEvent, type TelephoneEventReport } from './telephone-event.ts'

/** Capacity of the result queue, and of the list of ended events whose late packets are ignored; powers of two. */
const RESULTS = 16
const REMEMBERED = 16
/** RFC 4733 section 2.5.1.2 recommends updates every 50 ms: assumed until two packets show the sender's interval. */
const DEFAULT_INTERVAL_MS: Ms = 50
const MIN_INTERVAL_MS: Ms = 20
const INTERVALS_WITHOUT_PACKET = 3
/** A packet that is older than the newest event by more than this is a leftover, not a reordered digit. */
const OLDEST_ACCEPTED_MS: Ms = 2000
const SEGMENT_TICKS = 0xffff
const LAST_DTMF_EVENT = 15

/**
 * Recognises digits in received telephone-event packets (RFC 4733). Each is reported once, when it has ended: by an end
 * packet, by a newer event, or after three update intervals without a packet. Pass only authenticated packets. After
 * `receive` or `expire`, drain with `while (receiver.take()) …` and read the result fields.
 */
export class TelephoneEventReceiver {
  /** Result of the last `take()`; 0-15, see `digitOfEvent`. */
  event = 0
  ssrc = 0
  /** Where the digit began. */
  timestamp: RtpTicks = 0
  /** Duration seen; 0 when only the very first packet arrived, which has no duration yet. */
  durationMs: Ms = 0
  /** Arrival of the first packet of the digit that was received. */
  arrivedAtMs: Ms = 0

  /** RTP clock rate of the session, per millisecond. */
  ticksPerMs = 8

  readonly #report: TelephoneEventReport = { event: 0, end: false, volume: 0, duration: 0 }

  /** The event in progress; timestamps are of its first and of its latest segment. */
  #active = false
  #ssrc = 0
  #event = 0
  #start: RtpTicks = 0
  #segmentStart: RtpTicks = 0
  #segmentTicks: RtpTicks = 0
  #arrivedAt: Ms = 0
  #lastPacketAt: Ms = 0
  #intervalMs: Ms = DEFAULT_INTERVAL_MS

  readonly #rememberedSsrc = new Uint32Array(REMEMBERED)
  readonly #rememberedTimestamp = new Uint32Array(REMEMBERED)
  readonly #rememberedEvent = new Int16Array(REMEMBERED).fill(-1)
  #remembered = 0

  readonly #resultEvent = new Uint8Array(RESULTS)
  readonly #resultSsrc = new Uint32Array(RESULTS)
  readonly #resultStart = new Uint32Array(RESULTS)
  readonly #resultTicks = new Float64Array(RESULTS)
  readonly #resultArrivedAt = new Float64Array(RESULTS)
  #resultHead = 0
  #resultTail = 0

  /** One packet of the telephone-event payload type, with its RTP header's values; anything that is not a DTMF digit is ignored. */
  receive(
    ssrc: number,
    timestamp: RtpTicks,
    marker: boolean,
    payload: Uint8Array,
    offset: number,
    length: number,
    nowMs: Ms,
  ): void {
    const report = this.#report
    if (!readTelephoneEvent(payload, offset, length, report) || report.event > LAST_DTMF_EVENT) return
    if (this.#isRemembered(ssrc, timestamp, report.event)) return
    if (this.#active && ssrc === this.#ssrc) {
      if (timestamp === this.#segmentStart && report.event === this.#event) return this.#update(report, nowMs)
      if (this.#continues(timestamp, marker, report.event)) return this.#nextSegment(timestamp, report, nowMs)
      const age = (this.#segmentStart - timestamp) | 0
      if (age > 0) return this.#reordered(ssrc, timestamp, report, age, nowMs)
    } else if (!this.#active && this.#continuesReported(ssrc, timestamp, marker, report.event)) {
      return this.#remember(ssrc, timestamp, report.event)
    }
    this.#finish()
    this.#begin(ssrc, timestamp, report, nowMs)
  }

  /** Whether an event is in progress. */
  get active(): boolean {
    return this.#active
  }

  /** Ends an event whose end packets were all lost. Call at least every tick. */
  expire(nowMs: Ms): void {
    if (this.#active && nowMs - this.#lastPacketAt >= INTERVALS_WITHOUT_PACKET * this.#intervalMs) this.#finish()
  }

  /** Loads the oldest digit that has ended into the result fields; false when there is none. */
  take(): boolean {
    if (this.#resultHead === this.#resultTail) return false
    const i = this.#resultHead++ & (RESULTS - 1)
    this.event = this.#resultEvent[i]!
    this.ssrc = this.#resultSsrc[i]!
    this.timestamp = this.#resultStart[i]!
    this.durationMs = this.#resultTicks[i]! / this.ticksPerMs
    this.arrivedAtMs = this.#resultArrivedAt[i]!
    return true
  }

  #begin(ssrc: number, timestamp: RtpTicks, report: TelephoneEventReport, nowMs: Ms): void {
    this.#active = true
    this.#ssrc = ssrc >>> 0
    this.#event = report.event
    this.#start = timestamp >>> 0
    this.#segmentStart = this.#start
    this.#segmentTicks = 0
    this.#arrivedAt = nowMs
    this.#intervalMs = DEFAULT_INTERVAL_MS
    this.#update(report, nowMs)
  }

  #update(report: TelephoneEventReport, nowMs: Ms): void {
    const grown = report.duration - this.#segmentTicks
    if (this.#segmentTicks > 0 && grown > 0)
      this.#intervalMs = Math.max(MIN_INTERVAL_MS, Math.min(this.#intervalMs, grown / this.ticksPerMs))
    // A reordered update has an older duration.
    if (grown > 0) this.#segmentTicks = report.duration
    this.#lastPacketAt = nowMs
    if (report.end) this.#finish()
  }

  /** RFC 4733 section 2.5.1.3: segments of one event are contiguous and only the event's first packet has the marker. */
  #continues(timestamp: RtpTicks, marker: boolean, event: number): boolean {
    if (marker || event !== this.#event) return false
    const distance = (timestamp - this.#segmentStart) >>> 0
    return distance === SEGMENT_TICKS || (distance > 0 && distance === this.#segmentTicks)
  }

  #nextSegment(timestamp: RtpTicks, report: TelephoneEventReport, nowMs: Ms): void {
    this.#remember(this.#ssrc, this.#segmentStart, this.#event)
    this.#segmentStart = timestamp >>> 0
    this.#segmentTicks = 0
    this.#update(report, nowMs)
  }

  /**
   * Whether this is a further segment of an event that was already reported because packets were missing for too long.
   */
  #continuesReported(ssrc: number, timestamp: RtpTicks, marker: boolean, event: number): boolean {
    return !marker && this.#isRemembered(ssrc, timestamp - SEGMENT_TICKS, event)
  }

  /** The first packet of an older event arrived after a newer event: the older one is over and is reported at once. */
  #reordered(ssrc: number, timestamp: RtpTicks, report: TelephoneEventReport, age: RtpTicks, nowMs: Ms): void {
    if (age > OLDEST_ACCEPTED_MS * this.ticksPerMs) return
    this.#remember(ssrc, timestamp, report.event)
    this.#put(ssrc, timestamp, report.event, report.duration, nowMs)
  }

  #finish(): void {
    if (!this.#active) return
    this.#active = false
    this.#remember(this.#ssrc, this.#segmentStart, this.#event)
    const ticks = ((this.#segmentStart - this.#start) >>> 0) + this.#segmentTicks
    this.#put(this.#ssrc, this.#start, this.#event, ticks, this.#arrivedAt)
  }

  #put(ssrc: number, start: RtpTicks, event: number, ticks: RtpTicks, arrivedAt: Ms): void {
    // The queue is full only if the owner does not call `take`: then the newest digit is dropped.
    if (this.#resultTail - this.#resultHead === RESULTS) return
    const i = this.#resultTail++ & (RESULTS - 1)
    this.#resultEvent[i] = event
    this.#resultSsrc[i] = ssrc
    this.#resultStart[i] = start
    this.#resultTicks[i] = ticks
    this.#resultArrivedAt[i] = arrivedAt
  }

  #remember(ssrc: number, timestamp: RtpTicks, event: number): void {
    const i = this.#remembered++ & (REMEMBERED - 1)
    this.#rememberedSsrc[i] = ssrc
    this.#rememberedTimestamp[i] = timestamp
    this.#rememberedEvent[i] = event
  }

  #isRemembered(ssrc: number, timestamp: RtpTicks, event: number): boolean {
    for (let i = 0; i < REMEMBERED; i++)
      if (
        this.#rememberedEvent[i] === event &&
        this.#rememberedTimestamp[i] === timestamp >>> 0 &&
        this.#rememberedSsrc[i] === ssrc >>> 0
      )
        return true
    return false
  }
}
