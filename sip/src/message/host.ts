import { SipMessageError } from '../errors.ts'
import { consistsOf, HOST, parseDigits } from './characters.ts'
import { headerText } from './header-text.ts'

/** Longest name in the DNS. */
const MAX_HOST = 255

/** Lower-cased host name or IPv4 address, or IPv6 reference in brackets; undefined for anything else. */
export function parseHost(text: string): string | undefined {
  if (text.charCodeAt(0) === 0x5b) {
    if (text.charCodeAt(text.length - 1) !== 0x5d) return undefined
    // RFC 5118 section 4.10: the grammar of RFC 3261 allowed three colons in a row; they are read as two.
    const address = text.slice(1, -1).toLowerCase().replace(':::', '::')
    return isIpv6(address) ? `[${address}]` : undefined
  }
  return text.length <= MAX_HOST && consistsOf(HOST, text) ? text.toLowerCase() : undefined
}

/** A port in 0..65535; undefined for anything else. */
export function parsePort(text: string): number | undefined {
  const port = parseDigits(text, 5)
  return port !== undefined && port <= 65535 ? port : undefined
}

/** `host` or `host:port`; throws SipMessageError when either cannot be written. */
export function serialiseHostPort(host: string, port: number | undefined, where: string): string {
  if (parseHost(host) === undefined) {
    headerText(host, where)
    throw new SipMessageError('bad_field', `${where} needs a host name or address, not ${JSON.stringify(host)}`)
  }
  if (port === undefined) return host
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new SipMessageError('bad_field', `${where} has a port outside 0..65535: ${port}`)
  }
  return `${host}:${port}`
}

/** RFC 4291 section 2.2, without zone. */
function isIpv6(text: string): boolean {
  if (text.length < 2 || text.length > 45) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap(half => (half === '' ? [] : half.split(':')))
  const last = groups.at(-1)
  let count = groups.length
  if (last?.includes('.') === true) {
    if (!isIpv4(last) || text.endsWith(':')) return false
    groups.pop()
    count += 1
  }
  if (!groups.every(group => /^[0-9a-fA-F]{1,4}$/.test(group))) return false
  return halves.length === 2 ? count <= 7 : count === 8
}

function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every(part => (parseDigits(part, 3) ?? 256) <= 255)
}
