import type { SrtpKey } from '../session/media-session.ts'
import { CounterModeRtcp, CounterModeRtp } from './counter-mode-transform.ts'
import { GcmRtcp, GcmRtp } from './gcm-transform.ts'
import { deriveRtcpKeys, deriveRtpKeys } from './key-derivation.ts'
import { srtpSuiteSizes } from './srtp-suite.ts'
import type { RtcpTransform, RtpTransform } from './srtp-transform.ts'

/** Throws `MediaError` "srtp_key_invalid" when key and salt are not as long as the suite wants them. */
export function rtpTransform(key: SrtpKey): RtpTransform {
  const keys = deriveRtpKeys(key)
  const { aead, tag } = srtpSuiteSizes(key.suite)
  return aead ? new GcmRtp(keys) : new CounterModeRtp(keys, tag)
}

/** Throws `MediaError` "srtp_key_invalid". */
export function rtcpTransform(key: SrtpKey): RtcpTransform {
  const keys = deriveRtcpKeys(key)
  return srtpSuiteSizes(key.suite).aead ? new GcmRtcp(keys) : new CounterModeRtcp(keys)
}
