import type { SrtpKey } from '../session/media-session.ts'
import { CounterModeRtcp, CounterModeRtp } from './counter-mode-transform.ts'
import { GcmRtcp, GcmRtp } from './gcm-transform.ts'
import { deriveRtcpKeys, deriveRtpKeys } from './key-derivation.ts'
import { srtpSuiteSizes } from './srtp-suite.ts'
import type { RtcpTransform, RtpTransform, SrtpTransforms } from './srtp-transform.ts'

/** On every machine: ciphers of node:crypto, SHA-1 of ours. */
export const portableTransforms: SrtpTransforms = {
  gcm: keys => new GcmRtp(keys),
  counterMode: (keys, tagBytes) => new CounterModeRtp(keys, tagBytes),
}

/** Throws `MediaError` "srtp_key_invalid" when key and salt are not as long as the suite wants them. */
export function rtpTransform(key: SrtpKey, transforms: SrtpTransforms): RtpTransform {
  const keys = deriveRtpKeys(key)
  const { aead, tag } = srtpSuiteSizes(key.suite)
  return aead ? transforms.gcm(keys) : transforms.counterMode(keys, tag)
}

/** RTCP is a packet in seconds: it has the portable transform only. Throws `MediaError` "srtp_key_invalid". */
export function rtcpTransform(key: SrtpKey): RtcpTransform {
  const keys = deriveRtcpKeys(key)
  return srtpSuiteSizes(key.suite).aead ? new GcmRtcp(keys) : new CounterModeRtcp(keys)
}
