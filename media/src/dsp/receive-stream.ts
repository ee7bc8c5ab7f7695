import type { Ms, RtpTicks, Samples, Seq16 } from '@parley/kernel'

export interface ReceiveStreamOptions {
  /** The session's zero: sample position p is the moment openedAtMs + p / 8. */
  readonly openedAtMs: Ms
  /** Longest wait for a missing packet, and the lateness up to which a packet still counts; ms, default 40. */
  readonly holdMs?: Ms
}

/**
 * Turns packets as they arrive into one continuous stream on the session's sample clock, for a machine listener.
 * Each wake: `push` (or `skip`) everything that arrived, then `pull` until it returns 0.
 */
export declare class ReceiveStream {
  constructor(options: ReceiveStreamOptions)
  /** Sample-clock position of the next sample that `pull` returns. */
  readonly position: Samples
  readonly late: number
  readonly duplicate: number
  readonly lost: number
  readonly concealedSamples: Samples
  readonly reanchored: number
  /** Decoded audio of one packet; copied. Returns false when it was dropped (late, duplicate, malformed). */
  push(
    ssrc: number,
    sequence: Seq16,
    timestamp: RtpTicks,
    audio: Int16Array,
    offset: number,
    count: Samples,
    nowMs: Ms,
  ): boolean
  /** A packet of the same stream without audio (telephone-event): takes its place in the sequence, sounds as silence. */
  skip(ssrc: number, sequence: Seq16, nowMs: Ms): boolean
  /** Copies what is due at `nowMs` to `into` and returns how many samples. */
  pull(nowMs: Ms, into: Int16Array): Samples
  /** Where audio of `timestamp` stands (or would stand) on the sample clock; -1 before the first packet. */
  positionOf(timestamp: RtpTicks): Samples
}
