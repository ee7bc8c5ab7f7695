import { ParleyError } from '@parley/kernel'
import type { SrtpKey } from '../session/media-session.ts'
import { AesCounterMode } from './aes-counter-mode.ts'

export const MASTER_KEY_BYTES = 16
export const MASTER_SALT_BYTES = 14
const AUTHENTICATION_KEY_BYTES = 20

const RTP_LABELS = 0
const RTCP_LABELS = 3

/** What protects either RTP or RTCP (RFC 3711 section 3.2.1). */
export interface SessionKeys {
  readonly encryption: Uint8Array
  readonly authentication: Uint8Array
  readonly salt: Uint8Array
}

/** Session keys for RTP (labels 0 to 2), key derivation rate 0 (RFC 3711 section 4.3). Throws "srtp_key_invalid". */
export function deriveRtpKeys(key: SrtpKey): SessionKeys {
  return derive(key, RTP_LABELS)
}

/** Session keys for RTCP (labels 3 to 5). Throws "srtp_key_invalid". */
export function deriveRtcpKeys(key: SrtpKey): SessionKeys {
  return derive(key, RTCP_LABELS)
}

function derive(key: SrtpKey, firstLabel: number): SessionKeys {
  const { keyAndSalt } = key
  if (keyAndSalt.length !== MASTER_KEY_BYTES + MASTER_SALT_BYTES) {
    throw new ParleyError('srtp_key_invalid', `SRTP master key and salt are ${keyAndSalt.length} bytes, not 30`)
  }
  return {
    encryption: deriveOne(keyAndSalt, firstLabel, MASTER_KEY_BYTES),
    authentication: deriveOne(keyAndSalt, firstLabel + 1, AUTHENTICATION_KEY_BYTES),
    salt: deriveOne(keyAndSalt, firstLabel + 2, MASTER_SALT_BYTES),
  }
}

/** Keystream under the master key, the label XORed into the master salt just above the 48-bit index, which is 0 here. */
function deriveOne(keyAndSalt: Uint8Array, label: number, length: number): Uint8Array {
  const salt = keyAndSalt.slice(MASTER_KEY_BYTES)
  salt[7] = salt[7]! ^ label
  const derived = new Uint8Array(length)
  new AesCounterMode(keyAndSalt.subarray(0, MASTER_KEY_BYTES), salt).apply(derived, 0, length, 0, 0)
  return derived
}
