/**
 * Units that travel between packages. They are plain numbers: a hot path cannot afford wrappers, so the unit
 * lives in the type's name and in the name of the value (`lateMs`, `atSample`).
 */

/** Milliseconds; a time of this type is monotonic (never wall clock) unless its name says `unix`. */
export type Ms = number

/** Milliseconds since 1970-01-01T00:00Z, from the wall clock: for logs, certificates and the outside only. */
export type UnixMs = number

/** A count of audio samples of one channel, at the rate of the `AudioFormat` that goes with them. */
export type Samples = number

/** RTP timestamp units of the payload's clock, modulo 2^32 (RFC 3550 section 5.1). */
export type RtpTicks = number

/** RTP sequence number, modulo 2^16 (RFC 3550 section 5.1). */
export type Seq16 = number
