import type { Ms, RtpTicks, Seq16 } from '@parley/kernel'
import { ExtendedSequence, SEQUENCE_RESTARTED, SEQUENCE_VALID, type SequenceVerdict, ticksDelta } from './sequence.ts'

const MAX_CUMULATIVE_LOST = 0x7fffff
const MIN_CUMULATIVE_LOST = -0x800000

/** Loss and jitter of one source (RFC 3550 sections 6.4.1, A.3 and A.8). Allocates nothing after construction. */
export class ReceptionStatistics {
  readonly sequence = new ExtendedSequence()
  /** Mean deviation of the packet spacing at the receiver from that at the sender, in timestamp units. */
  jitterTicks = 0
  #expectedPrior = 0
  #receivedPrior = 0
  #lastTimestamp: RtpTicks = 0
  #lastArrivalMs: Ms = 0

  /**
   * Counts a packet. `arrivalMs` is monotonic, `clockRate` in Hz. Packets with the timestamp of the last one (RFC 4733
   * updates of one event) do not count for the jitter, because their timestamp is not their sending time.
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
      const spacing = ((arrivalMs - this.#lastArrivalMs) * clockRate) / 1000
      const deviation = Math.abs(spacing - ticksDelta(timestamp, this.#lastTimestamp))
      this.jitterTicks += (deviation - this.jitterTicks) / 16
    } else {
      return verdict
    }
    this.#lastTimestamp = timestamp
    this.#lastArrivalMs = arrivalMs
    return verdict
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

  /** Forgets everything, for a new source. */
  reset(): void {
    this.sequence.reset()
    this.jitterTicks = 0
    this.#expectedPrior = 0
    this.#receivedPrior = 0
  }
}
