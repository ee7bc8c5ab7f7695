import type { RtpTicks, Seq16 } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'

/** How far `a` is ahead of `b`, shortest way round: -32768 to 32767. */
export function seqDelta(a: Seq16, b: Seq16): number {
  return ((a - b) << 16) >> 16
}

/** How far `a` is ahead of `b` in timestamp units, shortest way round: -2^31 to 2^31 - 1. */
export function ticksDelta(a: RtpTicks, b: RtpTicks): number {
  return (a - b) | 0
}

/** RFC 3550 A.1: a jump forward below this is loss, above it perhaps a restarted sender. */
const MAX_DROPOUT = 3000
/** RFC 3550 A.1: a step back below this is reordering, above it perhaps a restarted sender. */
const MAX_MISORDER = 100

const SEQUENCE_MOD = 0x10000
const NO_BAD_SEQUENCE = SEQUENCE_MOD + 1

/** Result of `ExtendedSequence.update`. */
export type SequenceVerdict =
  | typeof SEQUENCE_VALID
  | typeof SEQUENCE_RESTARTED
  | typeof SEQUENCE_PROBATION
  | typeof SEQUENCE_BAD
export const SEQUENCE_VALID = 0
/** Valid, and the counting began anew: the first packet, the end of probation, or a sender that restarted. */
export const SEQUENCE_RESTARTED = 1
/** The source has not yet sent enough packets in sequence. */
export const SEQUENCE_PROBATION = 2
/** A large jump; the next packet in line with it proves a restart. */
export const SEQUENCE_BAD = 3

/** `probation`: packets in sequence still wanted; -1 before the first packet. */
export const SequenceWords = wordsClass('received', 'highest', 'cycles', 'base', 'bad', 'probation')

/** One source's sequence numbers counted through their wraps (RFC 3550 appendix A.1). */
export class ExtendedSequence {
  readonly #state: InstanceType<typeof SequenceWords>
  readonly #minSequential: number

  /** `minSequential`: packets in sequence before a source counts; default 0, since SRTP and latching prove it already. */
  constructor(minSequential = 0, memory?: Float64Array) {
    this.#minSequential = minSequential
    this.#state = new SequenceWords(memory)
    this.#state.bad = NO_BAD_SEQUENCE
    this.#state.probation = -1
  }

  /** Packets counted since the last restart, duplicates and late ones too. */
  get received(): number {
    return this.#state.received
  }

  update(sequence: Seq16): SequenceVerdict {
    if (this.#state.probation !== 0) return this.#onProbation(sequence)
    const ahead = (sequence - this.#state.highest) & 0xffff
    if (ahead < MAX_DROPOUT) {
      if (sequence < this.#state.highest) this.#state.cycles += SEQUENCE_MOD
      this.#state.highest = sequence
      this.#state.bad = NO_BAD_SEQUENCE
    } else if (ahead <= SEQUENCE_MOD - MAX_MISORDER) {
      if (sequence !== this.#state.bad) {
        this.#state.bad = (sequence + 1) & 0xffff
        return SEQUENCE_BAD
      }
      return this.#admit(sequence)
    }
    this.#state.received++
    return SEQUENCE_VALID
  }

  #onProbation(sequence: Seq16): SequenceVerdict {
    const inLine = this.#state.probation > 0 && sequence === ((this.#state.highest + 1) & 0xffff)
    this.#state.probation = Math.max(0, (inLine ? this.#state.probation : this.#minSequential) - 1)
    this.#state.highest = sequence
    return this.#state.probation === 0 ? this.#admit(sequence) : SEQUENCE_PROBATION
  }

  #admit(sequence: Seq16): SequenceVerdict {
    this.#state.base = sequence
    this.#state.highest = sequence
    this.#state.cycles = 0
    this.#state.bad = NO_BAD_SEQUENCE
    this.#state.received = 1
    return SEQUENCE_RESTARTED
  }

  /** Highest sequence number with its cycles above it, as a reception report carries it. */
  get highest(): number {
    return this.#state.cycles + this.#state.highest
  }

  /** Packets the sender has sent by now, judged by the sequence numbers; 0 before the first valid one. */
  get expected(): number {
    return this.#state.received === 0 ? 0 : this.highest - this.#state.base + 1
  }

  /** `sequence` with the cycles that bring it nearest to `highest`; below 0 for one from before the first packet's cycle. */
  extend(sequence: Seq16): number {
    return this.highest + seqDelta(sequence, this.#state.highest)
  }

  /** Clears all state, for a new source. */
  reset(): void {
    this.#state.probation = -1
    this.#state.received = 0
  }
}
