import { canonicalHost } from './address-class.ts'

/** A private destination that agents may reach: a host name or an address, and exactly one port. */
export interface EgressAllowEntry {
  /** A host name or an address in the form of URLs, without brackets. */
  readonly host: string
  readonly port: number
}

const ENTRY = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+):(\d{1,5})$/i
/** The characters of names and addresses: wildcards and networks are not allowed. */
const HOST = /^[a-z0-9._:-]+$/
const MAX_ENTRIES = 1000

/** `host:port`, comma separated, IPv6 addresses in brackets; empty text allows nothing. Returns an error text if an entry is invalid. */
export function parseEgressAllow(text: string): readonly EgressAllowEntry[] | string {
  const parts = text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
  if (parts.length > MAX_ENTRIES) return `at most ${MAX_ENTRIES} entries`
  const entries: EgressAllowEntry[] = []
  for (const part of parts) {
    const [, written = '', digits = ''] = ENTRY.exec(part) ?? []
    const host = canonicalHost(written)
    const port = Number(digits)
    if (host === undefined || !HOST.test(host) || port < 1 || port > 65_535)
      return `"${part}" must be HOST:PORT, such as 127.0.0.1:8090 or [::1]:8090`
    entries.push({ host, port })
  }
  return entries
}
