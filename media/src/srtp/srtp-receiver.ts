import type { SrtpKey } from '../session/media-session.ts'
import { SRTP_MALFORMED } from './srtp-result.ts'

/** Verifies and decrypts what arrives under one master key (RFC 3711), in place. */
export class SrtpReceiver {
  constructor(_key: SrtpKey) {}

  /** Returns the new length, or SRTP_MALFORMED, SRTP_REPLAYED, SRTP_UNAUTHENTICATED, SRTP_TOO_MANY_STREAMS. */
  unprotect(_packet: Uint8Array, _length: number): number {
    return SRTP_MALFORMED
  }

  /** As `unprotect`, or SRTP_CLEAR_RTCP. */
  unprotectRtcp(_packet: Uint8Array, _length: number): number {
    return SRTP_MALFORMED
  }
}
