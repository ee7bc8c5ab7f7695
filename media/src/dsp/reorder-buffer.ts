import type { Ms, RtpTicks, Samples, Seq16 } from '@parley/kernel'

export interface ReorderBufferOptions {
  /** Longest that a packet waits for its predecessor, ms; default 40. */
  readonly holdMs?: Ms
  /** Slots, a power of two; default 32. */
  readonly capacity?: number
  /** Longest packet, samples; default 480 (60 ms). */
  readonly packetSamples?: Samples
}

export declare class ReorderBuffer {
  constructor(options?: ReorderBufferOptions)
  readonly late: number
  readonly duplicate: number
  readonly lost: number
  push(
    ssrc: number,
    sequence: Seq16,
    timestamp: RtpTicks,
    audio: Int16Array,
    offset: number,
    count: Samples,
    nowMs: Ms,
  ): boolean
}
