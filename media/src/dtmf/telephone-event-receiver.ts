import type { Ms, RtpTicks } from '@parley/kernel'

/**
 * Recognises digits in received telephone-event packets; each is reported once, when it has ended.
 * After `receive` or `expire`, drain with `while (receiver.take()) …` and read the result fields.
 */
export declare class TelephoneEventReceiver {
  /** Result of the last `take()`. */
  readonly event: number
  readonly ssrc: number
  /** Where the digit began. */
  readonly timestamp: RtpTicks
  /** As long as was seen. */
  readonly durationMs: Ms
  /** When its first packet arrived. */
  readonly arrivedAtMs: Ms
  receive(
    ssrc: number,
    timestamp: RtpTicks,
    marker: boolean,
    payload: Uint8Array,
    offset: number,
    length: number,
    nowMs: Ms,
  ): void
  /** Ends an event whose end packets were all lost. Call at least every tick. */
  expire(nowMs: Ms): void
  take(): boolean
}
