import type { SrtpKey } from '../session/media-session.ts'
import { SRTP_MALFORMED } from './srtp-result.ts'

/** Protects what we send under one master key (RFC 3711), in place and without allocation of its own. */
export class SrtpSender {
  constructor(_key: SrtpKey) {}

  /** Returns the new length, or below 0. */
  protect(_packet: Uint8Array, _length: number): number {
    return SRTP_MALFORMED
  }

  protectRtcp(_packet: Uint8Array, _length: number): number {
    return SRTP_MALFORMED
  }

  /** Rollover counter of the stream sent last (RFC 3711 section 3.3.1). */
  get rollover(): number {
    return 0
  }
}
