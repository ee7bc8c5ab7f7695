import { isIP } from 'node:net'
import { bareHost, canonicalHost, isPublicAddress } from './address-class.ts'
import type { EgressAllowEntry } from './allow-list.ts'

/** The server that a URL names. */
export interface Target {
  readonly url: URL
  readonly secure: boolean
  /** Name or address, without brackets and without a trailing dot. */
  readonly host: string
  readonly port: number
}

const MAX_URL_LENGTH = 16_384
/** Further addresses of a name are ignored. */
const MAX_ADDRESSES = 8

/** Undefined if the URL is not http(s), contains credentials, has no usable port, or is too long. */
export function targetOf(text: string): Target | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const secure = url.protocol === 'https:'
  const host = bareHost(url)
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const fit = (secure || url.protocol === 'http:') && url.username === '' && url.password === '' && host !== ''
  return fit && port !== 0 ? { url, secure, host, port } : undefined
}

/** The addresses that may be contacted: public ones, and those that `allow` lists by name or address with the port. */
export function permittedAddresses(
  { host, port }: Target,
  addresses: readonly string[],
  allow: readonly EgressAllowEntry[],
): readonly string[] {
  const allowed = new Set(allow.filter(entry => entry.port === port).map(entry => entry.host))
  return addresses
    .filter(address => isIP(address) !== 0)
    .filter(address => allowed.has(host) || isPublicAddress(address) || allowed.has(canonicalHost(address) ?? ''))
    .slice(0, MAX_ADDRESSES)
}
