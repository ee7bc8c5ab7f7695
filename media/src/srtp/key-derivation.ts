import { MediaError } from '../errors.ts'
import type { SrtpKey } from '../session/media-session.ts'
import { AesCounterMode } from './aes-counter-mode.ts'
import { keyAndSaltBytes, srtpSuiteSizes } from './srtp-suite.ts'

const AUTHENTICATION_KEY_BYTES = 20
/**
 * Length of the salt for the derivation: the 12-byte salt of the AEAD suites is filled up with zeros (RFC 7714 section
 * 11).
 */
const DERIVATION_SALT_BYTES = 14

const RTP_LABELS = 0
const RTCP_LABELS = 3

/** Session keys of either RTP or RTCP (RFC 3711 section 3.2.1). The AEAD suites do not use `authentication`. */
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
  const { suite, keyAndSalt } = key
  if (keyAndSalt.length !== keyAndSaltBytes(suite)) {
    throw new MediaError(
      'srtp_key_invalid',
      `SRTP master key and salt are ${keyAndSalt.length} bytes, not ${keyAndSaltBytes(suite)}`,
    )
  }
  const { masterKey, masterSalt } = srtpSuiteSizes(suite)
  const master = keyAndSalt.subarray(0, masterKey)
  const salt = new Uint8Array(DERIVATION_SALT_BYTES)
  salt.set(keyAndSalt.subarray(masterKey))
  return {
    encryption: deriveOne(master, salt, firstLabel, masterKey),
    authentication: deriveOne(master, salt, firstLabel + 1, AUTHENTICATION_KEY_BYTES),
    salt: deriveOne(master, salt, firstLabel + 2, masterSalt),
  }
}

/**
 * Keystream under the master key (with 32 bytes of it RFC 6188's), the label XORed into the master salt just above the
 * 48-bit index, which is 0 here.
 */
export function deriveOne(masterKey: Uint8Array, masterSalt: Uint8Array, label: number, length: number): Uint8Array {
  const salt = masterSalt.slice()
  salt[7] = salt[7]! ^ label
  const derived = new Uint8Array(length)
  new AesCounterMode(masterKey, salt).apply(derived, 0, length, 0, 0)
  return derived
}
