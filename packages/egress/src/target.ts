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

/** Whether `address` may be contacted at `port` under the name `host`: it is public, or `allow` lists the name or the address with the port. */
export function isPermitted(host: string, address: string, port: number, allow: readonly EgressAllowEntry[]): boolean {
  return permittedAddresses({ host: canonicalHost(host) ?? host, port }, [address], allow).length === 1
}

/**
 * Whether a host that a tenant names may be stored: a name other than localhost, or a public address; anything that `allow` lists with any
 * port. What a name resolves to is checked when it is contacted.
 */
export function isPermittedHost(host: string, allow: readonly EgressAllowEntry[]): boolean {
  const canonical = canonicalHost(host)
  if (canonical === undefined) return false
  if (allow.some(entry => entry.host === canonical)) return true
  if (isIP(canonical) !== 0) return isPublicAddress(canonical)
  return canonical !== 'localhost'
}

/** The addresses that may be contacted: public ones, and those that `allow` lists by name or address with the port. */
export function permittedAddresses(
  { host, port }: Pick<Target, 'host' | 'port'>,
  addresses: readonly string[],
  allow: readonly EgressAllowEntry[],
): readonly string[] {
  const allowed = new Set(allow.filter(entry => entry.port === port).map(entry => entry.host))
  return addresses
    .filter(address => isIP(address) !== 0)
    .filter(address => allowed.has(host) || isPublicAddress(address) || allowed.has(canonicalHost(address) ?? ''))
    .slice(0, MAX_ADDRESSES)
}
