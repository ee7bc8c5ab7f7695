import type { Ms, RtpTicks, Seq16 } from '@parley/kernel'
import {
  ExtendedSequence,
  SEQUENCE_RESTARTED,
  SEQUENCE_VALID,
  type SequenceVerdict,
  seqDelta,
  ticksDelta,
} from './sequence.ts'

const MAX_CUMULATIVE_LOST = 0x7fffff
const MIN_CUMULATIVE_LOST = -0x800000
/** Timestamps that run ahead of the arrivals by more than this have jumped: no packet arrives before it was sent. */
const MAX_AHEAD_MS: Ms = 200
/** Timestamps that fall behind the arrivals by more than this have jumped, too: networks do not delay packets that long. */
const MAX_BEHIND_MS: Ms = 1000
/** A sender that leaves out at least this much between two packets in sequence pauses on purpose (DTX). */
const MIN_PAUSE_MS: Ms = 200

/** Loss and jitter of one source (RFC 3550 sections 6.4.1, A.3 and A.8). Allocates nothing after construction. */
export class ReceptionStatistics {
  readonly sequence = new ExtendedSequence()
  /** Mean deviation of the packet spacing at the receiver from that at the sender, in timestamp units. */
  jitterTicks = 0
  /** Sum of `jitterTicks` after each packet that counted, over all sources, for the mean over the call. */
  jitterSum = 0
  /** Number of packets in `jitterSum`. */
  jitterCount = 0
  /** Highest `jitterTicks`, over all sources. */
  jitterMaxTicks = 0
  /** Gaps that the sender left on purpose (DTX), over all sources. */
  pauses = 0
  #expectedPrior = 0
  #receivedPrior = 0
  #lastSequence: Seq16 = 0
  #lastTimestamp: RtpTicks = 0
  #lastArrivalMs: Ms = 0
  #gapExpected = false

  /**
   * Counts a packet. `arrivalMs` is monotonic, `clockRate` in Hz. Packets with the timestamp of the last one (RFC 4733
   * updates of one event) do not count for the jitter, because their timestamp is not their sending time. A jump of the
   * sender's timestamps is no jitter and does not count either.
   */
  update(sequence: Seq16, timestamp: RtpTicks, arrivalMs: Ms, clockRate: number): SequenceVerdict {
    const verdict = this.sequence.update(sequence)
    if (verdict === SEQUENCE_RESTARTED) {
      this.#expectedPrior = 0
      this.#receivedPrior = 0
      this.jitterTicks = 0
    } else if (verdict !== SEQUENCE_VALID) {
      return verdict
    } else if (timestamp !== this.#lastTimestamp) {
      this.#judgeSpacing(sequence, timestamp, arrivalMs, clockRate)
    } else {
      return verdict
    }
    this.#gapExpected = false
    this.#lastSequence = sequence
    this.#lastTimestamp = timestamp
    this.#lastArrivalMs = arrivalMs
    return verdict
  }

  /** The next packet may follow a gap that says nothing about the network: after an offer/answer. */
  expectGap(): void {
    this.#gapExpected = true
  }

  /** Packets since the last restart, duplicates and late ones too. */
  get received(): number {
    return this.sequence.received
  }

  /** Expected less received, within 24 signed bits; negative when duplicates outweigh the loss. */
  get lost(): number {
    const lost = this.sequence.expected - this.sequence.received
    return Math.max(MIN_CUMULATIVE_LOST, Math.min(MAX_CUMULATIVE_LOST, lost))
  }

  /** Fraction lost since the last call, in 1/256 (0 to 255), as a reception report carries it; begins the next interval. */
  takeFractionLost(): number {
    const expected = this.sequence.expected - this.#expectedPrior
    const received = this.sequence.received - this.#receivedPrior
    this.#expectedPrior += expected
    this.#receivedPrior += received
    const lost = expected - received
    return expected === 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected))
  }

  /** Forgets the source, for a new one; what counts over all sources stays. */
  reset(): void {
    this.sequence.reset()
    this.jitterTicks = 0
    this.#expectedPrior = 0
    this.#receivedPrior = 0
  }

  #judgeSpacing(sequence: Seq16, timestamp: RtpTicks, arrivalMs: Ms, clockRate: number): void {
    if (this.#gapExpected) return
    const ticksPerMs = clockRate / 1000
    const spacing = (arrivalMs - this.#lastArrivalMs) * ticksPerMs
    const sent = ticksDelta(timestamp, this.#lastTimestamp)
    const advance = seqDelta(sequence, this.#lastSequence)
    const isBackwards = advance > 0 && sent < 0
    if (isBackwards || sent - spacing > MAX_AHEAD_MS * ticksPerMs) return
    if (spacing - sent > MAX_BEHIND_MS * ticksPerMs) return
    if (advance === 1 && sent >= MIN_PAUSE_MS * ticksPerMs) this.pauses++
    this.jitterTicks += (Math.abs(spacing - sent) - this.jitterTicks) / 16
    this.jitterSum += this.jitterTicks
    this.jitterCount++
    if (this.jitterTicks > this.jitterMaxTicks) this.jitterMaxTicks = this.jitterTicks
  }
}
