/** The four bytes of one telephone-event report (RFC 4733 section 2.3). */
const TELEPHONE_EVENT_BYTES = 4

/** RFC 4733 section 3.2: events 0-15. */
const DIGITS = '0123456789*#ABCD'

/** One report; the reader fills the same one again and again. */
export interface TelephoneEventReport {
  /** 0-15: the sixteen DTMF digits (RFC 4733 section 3.2); 16-255: others. */
  event: number
  end: boolean
  /** 0-63: tone power, -dBm0. */
  volume: number
  /** Timestamp units since the packet's timestamp; 0-0xFFFF. */
  duration: number
}

/** Writes one report at `dst[dstOffset]`; returns its 4 bytes, or 0 when there is no room. */
export function writeTelephoneEvent(
  dst: Uint8Array,
  dstOffset: number,
  event: number,
  end: boolean,
  volume: number,
  duration: number,
): number {
  if (dst.length - dstOffset < TELEPHONE_EVENT_BYTES) return 0
  dst[dstOffset] = event
  dst[dstOffset + 1] = (end ? 0x80 : 0) | (volume & 0x3f)
  dst[dstOffset + 2] = duration >> 8
  dst[dstOffset + 3] = duration
  return TELEPHONE_EVENT_BYTES
}

/** Reads the first report of a payload of `length` bytes; false when it is shorter than one. */
export function readTelephoneEvent(
  src: Uint8Array,
  srcOffset: number,
  length: number,
  into: TelephoneEventReport,
): boolean {
  if (length < TELEPHONE_EVENT_BYTES || srcOffset < 0 || src.length - srcOffset < TELEPHONE_EVENT_BYTES) return false
  into.event = src[srcOffset]!
  into.end = (src[srcOffset + 1]! & 0x80) !== 0
  into.volume = src[srcOffset + 1]! & 0x3f
  into.duration = (src[srcOffset + 2]! << 8) | src[srcOffset + 3]!
  return true
}

/** "0"-"9", "*", "#", "A"-"D"; the empty string for any other event. */
export function digitOfEvent(event: number): string {
  return DIGITS[event] ?? ''
}

/** 0-15, or -1 where `digit` is not one DTMF digit. Lower-case a-d count. */
export function eventOfDigit(digit: string): number {
  return digit.length === 1 ? DIGITS.indexOf(digit.toUpperCase()) : -1
}
