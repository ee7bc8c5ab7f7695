import type { SrtpKey, SrtpSuite } from '../session/media-session.ts'
import { isSrtpSuite, keyAndSaltBytes } from '../srtp/srtp-suite.ts'
import type { CryptoAttribute } from './session-description.ts'

/** Offered suites, strongest tag first (RFC 4568 section 6.2): every peer has one of these. */
export const OFFERED_SUITES: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32']

/** Suites that are offered before these on request (RFC 7714 section 14.1). */
export const AEAD_SUITES: readonly SrtpSuite[] = ['AEAD_AES_256_GCM', 'AEAD_AES_128_GCM']

/** The longest key material of any registered suite is 46 bytes; twice that is still read, for suites to come. */
const MAX_KEY_BYTES = 96
/** RFC 3711 section 9.2: a master key protects at most 2^48 packets. */
const MAX_LIFETIME = 2n ** 48n
/**
 * A key with a shorter lifetime would expire within a long call (2^20 packets are 5.8 hours at 20 ms) and is refused,
 * because a timely re-key cannot be guaranteed.
 */
const MIN_LIFETIME = 2n ** 20n
const MAX_SESSION_PARAMETERS = 16

const LINE = /^([1-9]\d{0,8}|0) +([A-Za-z0-9_]{1,64}) +([!-~]+)((?: +[!-~]+)*) *$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The value of one `a=crypto:` line (RFC 4568 section 9.1), or null when it cannot be read. Unknown suites are read. */
export function parseCrypto(value: string): CryptoAttribute | null {
  const line = LINE.exec(value)
  if (line === null) return null
  const sessionParameters = line[4]!.split(' ').filter(word => word !== '')
  if (sessionParameters.length > MAX_SESSION_PARAMETERS) return null
  // A line with several keys (section 6.1) counts as unreadable: its sender may change between them at any time.
  const key = parseInline(line[3]!)
  if (key === null) return null
  return { tag: Number(line[1]), suite: line[2]!, ...key, sessionParameters }
}

function parseInline(text: string): Pick<CryptoAttribute, 'keyAndSalt' | 'lifetimePackets' | 'mki'> | null {
  if (!/^inline:/i.test(text)) return null
  const [encoded = '', ...rest] = text.slice('inline:'.length).split('|')
  const keyAndSalt = decodeBase64(encoded)
  if (keyAndSalt === null || rest.length > 2) return null
  let lifetimePackets: bigint | null = null
  let mki: CryptoAttribute['mki'] = null
  for (const part of rest) {
    if (part.includes(':')) {
      if (mki !== null) return null
      mki = parseMki(part)
      if (mki === null) return null
    } else {
      // Lifetime comes before the MKI, and once (section 9.1).
      if (lifetimePackets !== null || mki !== null) return null
      lifetimePackets = parseLifetime(part)
      if (lifetimePackets === null) return null
    }
  }
  return { keyAndSalt, lifetimePackets, mki }
}

function parseLifetime(text: string): bigint | null {
  const match = /^(?:2\^(\d{1,2})|(\d{1,15}))$/.exec(text)
  if (match === null) return null
  const packets = match[1] === undefined ? BigInt(match[2]!) : 2n ** BigInt(match[1])
  return packets >= 1n && packets <= MAX_LIFETIME ? packets : null
}

function parseMki(text: string): CryptoAttribute['mki'] {
  const match = /^(\d{1,39}):(\d{1,3})$/.exec(text)
  if (match === null) return null
  const length = Number(match[2])
  return length >= 1 && length <= 128 ? { value: BigInt(match[1]!), length } : null
}

/** Padding is optional: rtpengine omits it for the suites whose keys need it. */
function decodeBase64(text: string): Uint8Array | null {
  if (text.length > (MAX_KEY_BYTES / 3) * 4 || !BASE64.test(text)) return null
  const digits = text.replace(/=+$/, '')
  // One digit left over holds less than a byte; padding that is there must complete the last group.
  if (digits.length % 4 === 1 || (digits.length !== text.length && text.length % 4 !== 0)) return null
  return Uint8Array.from(Buffer.from(digits, 'base64'))
}

/** The value of an `a=crypto:` line; base64 padded as section 9.1 wants it. Free text is checked by the serialiser. */
export function formatCrypto(crypto: CryptoAttribute): string {
  const key = [`inline:${Buffer.from(crypto.keyAndSalt).toString('base64')}`]
  if (crypto.lifetimePackets !== null) key.push(formatLifetime(crypto.lifetimePackets))
  if (crypto.mki !== null) key.push(`${crypto.mki.value}:${crypto.mki.length}`)
  return [crypto.tag, crypto.suite, key.join('|'), ...crypto.sessionParameters].join(' ')
}

function formatLifetime(packets: bigint): string {
  const exponent = packets.toString(2).length - 1
  return packets === 2n ** BigInt(exponent) ? `2^${exponent}` : packets.toString()
}

/**
 * The key of a usable line, or null. Usable is a supported suite with complete key material, with a lifetime that outlasts a call and without an unsupported mandatory session parameter (RFC 4568 section 6.3.7).
 * Parameters that switch encryption or authentication off are never accepted.
 */
export function usableKey(crypto: CryptoAttribute): SrtpKey | null {
  if (!isSrtpSuite(crypto.suite)) return null
  if (crypto.keyAndSalt.length !== keyAndSaltBytes(crypto.suite)) return null
  if (crypto.lifetimePackets !== null && crypto.lifetimePackets < MIN_LIFETIME) return null
  for (const parameter of crypto.sessionParameters) {
    // WSH only advises a replay window; KDR=0 is the default; a leading "-" marks what may be ignored.
    if (!/^(?:-.*|WSH=\d+|KDR=0)$/i.test(parameter)) return null
  }
  const key = { suite: crypto.suite, keyAndSalt: crypto.keyAndSalt }
  if (crypto.mki === null) return key
  const mki = identifierBytes(crypto.mki)
  return mki === null ? null : { ...key, mki }
}

/** Big-endian, as it stands in packets; null when the value needs more bytes. */
function identifierBytes({ value, length }: NonNullable<CryptoAttribute['mki']>): Uint8Array | null {
  const bytes = new Uint8Array(length)
  let rest = value
  for (let i = length - 1; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn)
  return rest === 0n ? bytes : null
}

export function sameKey(a: SrtpKey, b: SrtpKey): boolean {
  return a.suite === b.suite && a.keyAndSalt.every((byte, i) => byte === b.keyAndSalt[i])
}
