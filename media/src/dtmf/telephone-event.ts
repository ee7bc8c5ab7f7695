/** The four bytes of one telephone-event report (RFC 4733 section 2.3). */
export const TELEPHONE_EVENT_BYTES = 4

/** One report, reused by the reader. */
export interface TelephoneEventReport {
  /** 0-15: the sixteen DTMF digits (RFC 4733 section 3.2); 16-255: others. */
  event: number
  end: boolean
  /** 0-63: tone power, -dBm0. */
  volume: number
  /** Timestamp units since the packet's timestamp; 0-0xFFFF. */
  duration: number
}

export declare function writeTelephoneEvent(
  dst: Uint8Array,
  dstOffset: number,
  event: number,
  end: boolean,
  volume: number,
  duration: number,
): number
export declare function readTelephoneEvent(
  src: Uint8Array,
  srcOffset: number,
  length: number,
  into: TelephoneEventReport,
): boolean
/** "0"-"9", "*", "#", "A"-"D"; the empty string for any other event. */
export declare function digitOfEvent(event: number): string
/** 0-15, or -1. Lower-case a-d count. */
export declare function eventOfDigit(digit: string): number
