import type { Ms, RtpTicks } from '@parley/kernel'

/**
 * Sends queued digits as RFC 4733 events, one packet per tick of the session. Each tick: `write` first; when it returns
 * 0 and `active` is set, send silence instead of queued audio; when it returns 4, send that payload with the
 * telephone-event payload type, `timestamp`, `marker` and the session's next sequence number.
 */
export declare class TelephoneEventSender {
  /** Digits are queued or being sent: audio is suppressed. */
  readonly active: boolean
  /** Of the packet that `write` produced last. */
  readonly timestamp: RtpTicks
  readonly marker: boolean
  /** Queues a batch. Characters 0-9 * # A-D; others throw `ParleyError` "invalid_digits"; more than 256 waiting: "too_many_digits". */
  enqueue(digits: string, options?: { readonly durationMs?: Ms; readonly gapMs?: Ms }): void
  /** `tickTimestamp`: RTP timestamp that an audio packet of this tick would carry; `tickSamples`: its length (160 at 20 ms). */
  write(tickTimestamp: RtpTicks, tickSamples: number, dst: Uint8Array, dstOffset: number): number
  /** The digits of a batch that was sent completely since the last call, oldest first; null when none. */
  takeSent(): string | null
  /** Drops what was not begun; the digit being sent ends at the next tick. */
  cancel(): void
}
