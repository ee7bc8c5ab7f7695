import type { Ms, RtpTicks, Seq16 } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
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

export const ReceptionWords = wordsClass(
  'jitterTicks',
  'jitterSum',
  'jitterCount',
  'jitterMaxTicks',
  'pauses',
  'expectedPrior',
  'receivedPrior',
  'lastSequence',
  'lastTimestamp',
  'lastArrivalMs',
  'gapExpected',
)

/** Loss and jitter of one source (RFC 3550 sections 6.4.1, A.3 and A.8). Allocates nothing after construction. */
export class ReceptionStatistics {
  readonly sequence: ExtendedSequence
  readonly #state: InstanceType<typeof ReceptionWords>

  constructor(memory?: Float64Array, sequenceMemory?: Float64Array) {
    this.#state = new ReceptionWords(memory)
    this.sequence = new ExtendedSequence(0, sequenceMemory)
  }

  /** Mean deviation of the packet spacing at the receiver from that at the sender, in timestamp units. */
  get jitterTicks(): number {
    return this.#state.jitterTicks
  }

  /** Sum of `jitterTicks` after each packet that counted, over all sources, for the mean over the call. */
  get jitterSum(): number {
    return this.#state.jitterSum
  }

  /** Number of packets in `jitterSum`. */
  get jitterCount(): number {
    return this.#state.jitterCount
  }

  /** Highest `jitterTicks`, over all sources. */
  get jitterMaxTicks(): number {
    return this.#state.jitterMaxTicks
  }

  /** Gaps that the sender left on purpose (DTX), over all sources. */
  get pauses(): number {
    return this.#state.pauses
  }

  /**
   * Counts a packet. `arrivalMs` is monotonic, `clockRate` in Hz. Packets with the timestamp of the last one (RFC 4733
   * updates of one event) do not count for the jitter, because their timestamp is not their sending time. A jump of the
   * sender's timestamps is no jitter and does not count either.
   */
  update(sequence: Seq16, timestamp: RtpTicks, arrivalMs: Ms, clockRate: number): SequenceVerdict {
    const verdict = this.sequence.update(sequence)
    if (verdict === SEQUENCE_RESTARTED) {
      this.#state.expectedPrior = 0
      this.#state.receivedPrior = 0
      this.#state.jitterTicks = 0
    } else if (verdict !== SEQUENCE_VALID) {
      return verdict
    } else if (timestamp !== this.#state.lastTimestamp) {
      this.#judgeSpacing(sequence, timestamp, arrivalMs, clockRate)
    } else {
      return verdict
    }
    this.#state.gapExpected = 0
    this.#state.lastSequence = sequence
    this.#state.lastTimestamp = timestamp
    this.#state.lastArrivalMs = arrivalMs
    return verdict
  }

  /** The next packet may follow a gap that says nothing about the network: after an offer/answer. */
  expectGap(): void {
    this.#state.gapExpected = 1
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
    const expected = this.sequence.expected - this.#state.expectedPrior
    const received = this.sequence.received - this.#state.receivedPrior
    this.#state.expectedPrior += expected
    this.#state.receivedPrior += received
    const lost = expected - received
    return expected === 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected))
  }

  /** Forgets the source, for a new one; what counts over all sources stays. */
  reset(): void {
    this.sequence.reset()
    this.#state.jitterTicks = 0
    this.#state.expectedPrior = 0
    this.#state.receivedPrior = 0
  }

  #judgeSpacing(sequence: Seq16, timestamp: RtpTicks, arrivalMs: Ms, clockRate: number): void {
    if (this.#state.gapExpected !== 0) return
    const ticksPerMs = clockRate / 1000
    const spacing = (arrivalMs - this.#state.lastArrivalMs) * ticksPerMs
    const sent = ticksDelta(timestamp, this.#state.lastTimestamp)
    const advance = seqDelta(sequence, this.#state.lastSequence)
    const isBackwards = advance > 0 && sent < 0
    if (isBackwards || sent - spacing > MAX_AHEAD_MS * ticksPerMs) return
    if (spacing - sent > MAX_BEHIND_MS * ticksPerMs) return
    if (advance === 1 && sent >= MIN_PAUSE_MS * ticksPerMs) this.#state.pauses++
    this.#state.jitterTicks += (Math.abs(spacing - sent) - this.#state.jitterTicks) / 16
    this.#state.jitterSum += this.#state.jitterTicks
    this.#state.jitterCount++
    if (this.#state.jitterTicks > this.#state.jitterMaxTicks) this.#state.jitterMaxTicks = this.#state.jitterTicks
  }
}
