import type { SrtpSuite } from '../session/media-session.ts'

/** Sizes of one suite's parts, in bytes (RFC 4568 section 6.2, RFC 6188 section 4, RFC 7714 section 12). */
interface SrtpSuiteSizes {
  readonly masterKey: number
  readonly masterSalt: number
  /** Length of the tag that SRTP adds to a packet. SRTCP's tag is never shorter than 10. */
  readonly tag: number
  readonly aead: boolean
}

const SIZES: Readonly<Record<SrtpSuite, SrtpSuiteSizes>> = {
  AES_CM_128_HMAC_SHA1_80: { masterKey: 16, masterSalt: 14, tag: 10, aead: false },
  AES_CM_128_HMAC_SHA1_32: { masterKey: 16, masterSalt: 14, tag: 4, aead: false },
  AES_256_CM_HMAC_SHA1_80: { masterKey: 32, masterSalt: 14, tag: 10, aead: false },
  AES_256_CM_HMAC_SHA1_32: { masterKey: 32, masterSalt: 14, tag: 4, aead: false },
  AEAD_AES_128_GCM: { masterKey: 16, masterSalt: 12, tag: 16, aead: true },
  AEAD_AES_256_GCM: { masterKey: 32, masterSalt: 12, tag: 16, aead: true },
}

/** All suites that are accepted. */
export const SRTP_SUITES = Object.keys(SIZES) as readonly SrtpSuite[]

export function isSrtpSuite(suite: string): suite is SrtpSuite {
  return Object.hasOwn(SIZES, suite)
}

export function srtpSuiteSizes(suite: SrtpSuite): SrtpSuiteSizes {
  return SIZES[suite]
}

/** Length of master key and master salt together, as SDES carries them. */
export function keyAndSaltBytes(suite: SrtpSuite): number {
  return SIZES[suite].masterKey + SIZES[suite].masterSalt
}
